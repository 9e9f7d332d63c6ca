/** A machine's credential as the database knows it, whatever its state; `accounts` finds it, endpoints judge it. */
export interface DevicePrincipal {
  readonly deviceId: string;
  readonly teamId: string;
  readonly teamName: string;
  readonly tier: "starter" | "team" | "enterprise";
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

/** What an endpoint demands of its caller. `deviceAnyState` lets the handler judge expired, revoked and unknown tokens. */
export interface Principals {
  none: undefined;
  device: DevicePrincipal;
  deviceAnyState: DevicePrincipal | undefined;
}

export type Auth = keyof Principals;
