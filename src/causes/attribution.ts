import type { Core } from "../core.ts";
import { type Link, listLinks } from "./links.ts";

/** How many defects one session, model or agent is answerable for. */
export interface Share {
  readonly defects: number;
}

export interface SessionShare extends Share {
  /** The number under which the session is kept. */
  readonly sessionNumber: number;
  /** As the agent gave it. */
  readonly sessionId: string;
  readonly agent: string | null;
  readonly model: string | null;
}

export interface NamedShare extends Share {
  /** null: the sessions didn't say. */
  readonly name: string | null;
}

/** Figures over links that count: strong and probable ones that nobody outranked, and people's own. Weak ones never do. */
export interface Attribution {
  /** Defects that are put down to anything. */
  readonly defects: number;
  /** Of these, put down to a session; the others to a commit of nobody's session. */
  readonly ofSessions: number;
  /** Most defects first. */
  readonly sessions: readonly SessionShare[];
  readonly models: readonly NamedShare[];
  readonly agents: readonly NamedShare[];
}

/** Whose work a team's defects were. A defect with several causes counts once for each of them. */
export function attribution(core: Core, teamId: string, filter: { readonly repoKey?: string } = {}): Attribution {
  const { links } = listLinks(core, teamId, { ...filter, limit: Number.POSITIVE_INFINITY });
  const counted = links.filter((link) => link.counts);
  const withSession = counted.filter((link) => link.sessionNumber !== null);
  const sessions = [...Map.groupBy(withSession, (link) => link.sessionNumber as number)].map(
    ([sessionNumber, [one, ...more]]): SessionShare => {
      const { sessionId, agent, model } = one as Link;
      return { sessionNumber, sessionId: sessionId ?? "", agent, model, defects: defectsOf([one as Link, ...more]) };
    },
  );
  return {
    defects: defectsOf(counted),
    ofSessions: defectsOf(withSession),
    sessions: sessions.sort((a, b) => b.defects - a.defects || b.sessionNumber - a.sessionNumber),
    models: sharesBy(withSession, (link) => link.model),
    agents: sharesBy(withSession, (link) => link.agent),
  };
}

const defectsOf = (links: readonly Link[]): number =>
  new Set(links.map(({ repoKey, path, heading, ordinal }) => JSON.stringify([repoKey, path, heading, ordinal]))).size;

function sharesBy(links: readonly Link[], nameOf: (link: Link) => string | null): NamedShare[] {
  return [...Map.groupBy(links, nameOf)]
    .map(([name, own]) => ({ name, defects: defectsOf(own) }))
    .sort((a, b) => b.defects - a.defects || ((a.name ?? "") < (b.name ?? "") ? -1 : 1));
}
