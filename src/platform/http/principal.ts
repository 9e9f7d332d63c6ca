/** A machine's credential as the database knows it, whatever its state; `accounts` finds it, endpoints judge it. */
export interface DevicePrincipal {
  readonly deviceId: string;
  readonly teamId: string;
  readonly teamName: string;
  readonly tier: "none" | "starter" | "team" | "enterprise";
  readonly seats: number;
  readonly subscription: "active" | "trialing" | "past_due" | "canceled" | "none";
  readonly subscriptionChangedAt: number;
  readonly periodEndAt: number | null;
  readonly suspendedAt: number | null;
  readonly lastSeenAt: number | null;
  readonly revokedAt: number | null;
  readonly tokenHash: Buffer;
  readonly tokenExpiresAt: number | null;
  readonly tokenReplacedAt: number | null;
}

/** A person's command-line tool, by its access token. */
export interface CliPrincipal {
  readonly tokenId: string;
  readonly userId: string;
  readonly email: string;
}

/** What a read token narrows its owner's reading to; an empty list does not narrow. */
export interface ReadScope {
  readonly teams: readonly string[];
  readonly repos: readonly string[];
  /** Globs over file paths. */
  readonly paths: readonly string[];
  readonly kinds: readonly string[];
}

/** An integration that reads a person's brain, by its read token. */
export interface ReadPrincipal {
  readonly tokenId: string;
  readonly userId: string;
  readonly scope: ReadScope;
}

/** A team as somebody in it sees it. */
export interface TeamSeat {
  readonly id: string;
  readonly name: string;
  readonly role: "owner" | "admin" | "member";
}

/** A person in the dashboard, by their session. */
export interface SessionPrincipal {
  readonly sessionId: string;
  readonly userId: string;
  readonly email: string;
  readonly name: string | null;
  /** May run the installation. */
  readonly operator: boolean;
  /** The team whose pages are shown; null for somebody who is in none. */
  readonly team: TeamSeat | null;
  readonly teams: readonly TeamSeat[];
  readonly lastSeenAt: number;
}

/** What an endpoint demands of its caller. `deviceAnyState` lets the handler judge expired, revoked and unknown tokens. */
export interface Principals {
  none: undefined;
  device: DevicePrincipal;
  deviceAnyState: DevicePrincipal | undefined;
  cli: CliPrincipal;
  read: ReadPrincipal;
}

export type Auth = keyof Principals;
