import type { PageCall } from "../../../../platform/http/page.ts";

/** Who opens a page. */

export type Person = PageCall<"person">;
export type Member = PageCall<"member">;
export type ByOperator = PageCall<"operator">;

/** Whether somebody manages the team: its owners and admins do. */
export const isAdmin = ({ session }: PageCall<"member" | "admin">): boolean => session.team.role !== "member";
