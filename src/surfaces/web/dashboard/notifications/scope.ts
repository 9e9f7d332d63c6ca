import type { PageCall } from "../../../../platform/http/page.ts";

/** Whose notifications a page is about: those of a team, or of the installation. */
export interface Scope {
  readonly base: `/${string}`;
  /** Null for the installation. */
  readonly teamId: string | null;
  readonly title: string;
}

export type Call = PageCall<"admin"> | PageCall<"operator">;

export const teamScope = ({ session }: PageCall<"admin">): Scope => ({
  base: "/notifications",
  teamId: session.team.id,
  title: "Notifications",
});

/** Not below the settings, because their place in the navigation would be marked as well. */
export const installationScope = (): Scope => ({
  base: "/installation-notifications",
  teamId: null,
  title: "Notifications of the installation",
});
