import { type Core, slot } from "../../core.ts";
import type { DefectKind } from "../../formats/brain-kinds.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import { checkpointOf } from "../../platform/projections/projections.ts";
import { sessionTwins } from "../../record/traces/traces.ts";
import { errorCalendar } from "../defects/defects.ts";
import { evidenceProjection } from "./follow-sessions.ts";
import { type CertainRow, linkRows, type MakerCount } from "./link-rows.ts";

/** How many defects one model or agent is answerable for. */
export interface NamedShare {
  /** null: the sessions didn't say. */
  readonly name: string | null;
  readonly defects: number;
  /** All sessions of it, whether they caused anything or not. */
  readonly sessions: number;
  /** The classes of its defects, by the first 8 hexadecimal digits of their fingerprints. */
  readonly classes: readonly string[];
}

/** Figures over links that count: strong and probable ones that nobody outranked, and people's own. Weak ones never do. */
export interface Attribution {
  /** Defects that are put down to anything. */
  readonly defects: number;
  /** Of these, put down to a session; the others to a commit of nobody's session. */
  readonly ofSessions: number;
  /** Both with most defects first. */
  readonly models: readonly NamedShare[];
  readonly agents: readonly NamedShare[];
}

/** Absent members narrow nothing. */
interface Narrowed {
  readonly repoKey?: string | undefined;
  readonly kind?: DefectKind | undefined;
}

/** Whose work a team's defects were. A defect with several causes counts once for each of them. */
export function attribution(core: Core, teamId: string, { repoKey, kind }: Narrowed = {}): Attribution {
  const all = linkRows(core.store).certain.all({ teamId, repoKey: repoKey ?? null });
  const classes = errorCalendar.classesOfEntries(
    core,
    teamId,
    all.map(({ entryId }) => entryId),
    kind,
  );
  const certain = all.filter(({ entryId }) => classes.has(entryId));
  const judged = new Set(certain.filter(({ humanVerdict }) => humanVerdict === 1).map(({ entryId }) => entryId));
  const counting = certain.filter(({ humanVerdict, entryId }) => humanVerdict === 1 || !judged.has(entryId));
  const withSession = counting.filter(({ hasSession }) => hasSession === 1);
  const makers = makersOf(core, teamId, repoKey ?? null);
  return {
    defects: defectsOf(counting),
    ofSessions: defectsOf(withSession),
    models: sharesBy(withSession, ({ model }) => model, { classes, sessions: countBy(makers, ({ model }) => model) }),
    agents: sharesBy(withSession, ({ agent }) => agent, { classes, sessions: countBy(makers, ({ agent }) => agent) }),
  };
}

/** Sessions counted lately, by team and repository. */
const counted = slot(() => new Map<string, { at: number; checkpoint: number; makers: readonly MakerCount[] }>());
const MAX_COUNTED = 1_000;
/** Up to so many sessions are counted at once; more of them once a minute. */
const FEW_SESSIONS = 2_000;

/** How many sessions each agent ran with each model; of a team with many of them as of a minute ago at most. */
function makersOf(core: Core, teamId: string, repoKey: string | null): readonly MakerCount[] {
  const cache = counted(core);
  const key = JSON.stringify([teamId, repoKey]);
  const known = cache.get(key);
  const checkpoint = checkpointOf(core, evidenceProjection);
  const at = core.clock.monotonic();
  if (known && at - known.at < MINUTE_MS) {
    const all = known.makers.reduce((sum, { sessions }) => sum + sessions, 0);
    if (known.checkpoint === checkpoint || all > FEW_SESSIONS) return known.makers;
  }
  const unlisted = sessionTwins.unlistedMakers(core, teamId, repoKey);
  const makers = linkRows(core.store)
    .makers.all({ teamId, repoKey })
    .map(({ model, agent, sessions }) => {
      const same = unlisted.find((one) => one.model === model && one.agent === agent);
      return { model, agent, sessions: sessions - (same?.sessions ?? 0) };
    });
  if (cache.size >= MAX_COUNTED) cache.clear();
  cache.set(key, { at, checkpoint, makers });
  return makers;
}

/** How many sessions are of each. */
function countBy(
  makers: readonly MakerCount[],
  nameOf: (maker: MakerCount) => string | null,
): Map<string | null, number> {
  const counts = new Map<string | null, number>();
  for (const maker of makers) counts.set(nameOf(maker), (counts.get(nameOf(maker)) ?? 0) + maker.sessions);
  return counts;
}

const defectsOf = (links: readonly CertainRow[]): number => new Set(links.map(({ entryId }) => entryId)).size;

interface Context {
  /** Of each entry. */
  readonly classes: ReadonlyMap<number, string>;
  /** Of each name. */
  readonly sessions: ReadonlyMap<string | null, number>;
}

function sharesBy(
  links: readonly CertainRow[],
  nameOf: (link: CertainRow) => string | null,
  { classes, sessions }: Context,
): NamedShare[] {
  return [...Map.groupBy(links, nameOf)]
    .map(([name, ofName]) => ({
      ...{ name, defects: defectsOf(ofName), sessions: sessions.get(name) ?? 0 },
      classes: [...new Set(ofName.map(({ entryId }) => classes.get(entryId) ?? ""))],
    }))
    .sort((a, b) => b.defects - a.defects || ((a.name ?? "") < (b.name ?? "") ? -1 : 1));
}
