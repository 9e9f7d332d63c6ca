import type { Access, PageSpec, SessionPrincipal, TeamSeat } from "./page.ts";

/** Who may open which page: the one place that decides it, for requests and for links to pages. */

type Guarded = Pick<PageSpec<keyof Access>, "access" | "method" | "own" | "narrows">;

/** Why a page is not for somebody who is signed in, or need not be; undefined when it is. */
export function whyNot(spec: Guarded, session: SessionPrincipal | undefined): string | undefined {
  const { access } = spec;
  if (access === "anyone" || !session) return undefined;
  if (access === "operator")
    return session.operator ? undefined : "Only who runs this installation can open this page.";
  if (!session.team) return access === "person" ? undefined : noTeam(session);
  return ranksBelow(access, session.team) ?? (spec.own ? undefined : narrowed(spec, session.team));
}

function noTeam({ operator }: SessionPrincipal): string {
  const next = operator ? "Make one under Settings." : "Ask an owner or admin of a team for an invitation.";
  return `You are in no team yet. ${next}`;
}

function ranksBelow(access: keyof Access, { role }: TeamSeat): string | undefined {
  if (access === "owner" && role !== "owner") return "Only an owner of the team can do this.";
  if (access === "admin" && role !== "owner" && role !== "admin")
    return "Only owners and admins of the team can do this.";
  return undefined;
}

/** What a role takes away beside its rank. */
function narrowed({ method, narrows }: Guarded, { role, name }: TeamSeat): string | undefined {
  if (role === "viewer" && method === "POST")
    return `You are a viewer of ${name}: you see its record and change nothing.`;
  if (role === "own_only" && !narrows)
    return `In ${name} you see what your own devices sent. This shows more than that. Your sessions, telemetry, spend and devices are open to you.`;
  return undefined;
}
