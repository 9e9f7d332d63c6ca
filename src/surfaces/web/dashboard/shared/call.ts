import { actorOf } from "../../../../identity/web-sessions/web-sessions.ts";
import type { Actor } from "../../../../platform/audit/audit.ts";
import type { PageCall } from "../../../../platform/http/page.ts";

/** Who opens a page. */

export type Person = PageCall<"person">;
export type Member = PageCall<"member">;
export type ByOperator = PageCall<"operator">;

/** Whether somebody manages the team: its owners and admins do. */
export const isAdmin = ({ session }: PageCall<"member" | "admin">): boolean => session.team.role !== "member";

/** Who does what a form asks for, as the audit keeps it. */
export const by = ({ session, ip }: Person): Actor => actorOf(session, ip());
