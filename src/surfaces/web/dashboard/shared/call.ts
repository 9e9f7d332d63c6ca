import { actorOf, type Origin } from "../../../../identity/web-sessions/web-sessions.ts";
import type { Actor } from "../../../../platform/audit/audit.ts";
import type { PageCall, TeamSeat } from "../../../../platform/http/page.ts";
import { readUserAgent } from "../../../../redact/redact.ts";

/** Who opens a page. */

export type Person = PageCall<"person">;
export type Member = PageCall<"member">;
export type ByOperator = PageCall<"operator">;

/** Whether somebody manages a team: its owners and admins do. */
export const manages = (team: TeamSeat | null): boolean => team?.role === "owner" || team?.role === "admin";
export const isAdmin = ({ session }: PageCall<"member" | "admin">): boolean => manages(session.team);

/** Who does what a form asks for, as the audit keeps it. */
export const by = ({ session, ip }: Person): Actor => actorOf(session, ip());

/** Where a sign-in comes from, as it is stored. */
export const originOf = (call: PageCall<"anyone">): Origin => ({
  ip: call.ip(),
  userAgent: readUserAgent(call.userAgent),
});
