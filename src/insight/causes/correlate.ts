import type { Core } from "../../core.ts";
import { newId } from "../../kit/ids.ts";
import { perOwner } from "../../kit/memo.ts";
import { cooperative } from "../../kit/yield.ts";
import { type Defect, listDefects } from "../defects/defects.ts";
import { type WantedLink, wantedLinks } from "./desired-links.ts";
import { entryText } from "./keys.ts";
import { type EntryKey, type LinkRow, linkRows } from "./link-rows.ts";
import { rehome } from "./reattach.ts";
import { openScene } from "./signals.ts";

/** What correlation made of the entries it looked at. */
export interface Correlated {
  readonly considered: number;
  /** Entries put down to a session, by evidence or by a person. */
  readonly linked: number;
  /** Entries of which sessions are known that are possible and no more. */
  readonly possible: number;
  readonly unlinked: number;
}

const NOTHING: Correlated = { considered: 0, linked: 0, possible: 0, unlinked: 0 };

/** Row changes of one transaction. */
const MAX_CHANGES = 250;

const running = perOwner((_core: Core) => new Map<string, Promise<unknown>>());

/** One run of a team at a time: a second would work from rows that the first is about to change. */
function inTurn<T>(core: Core, teamId: string, work: () => Promise<T>): Promise<T> {
  const turns = running(core);
  const own = (turns.get(teamId) ?? Promise.resolve()).catch(() => {}).then(work);
  const settled = own
    .catch(() => {})
    .finally(() => {
      if (turns.get(teamId) === settled) turns.delete(teamId);
    });
  turns.set(teamId, settled);
  return own;
}

/**
 * Puts a repository's entries down to sessions, as far as the evidence goes, and stores what changed: run again, nothing
 * does. Entries and evidence are as fresh as their projections.
 * @param which the entries to look at; all without it
 */
export function correlateRepository(
  core: Core,
  teamId: string,
  repoKey: string,
  which: (defect: Defect) => boolean = () => true,
): Promise<Correlated> {
  return inTurn(core, teamId, async () => {
    const defects = listDefects(core, teamId, { repoKey });
    await rehome(core, teamId, repoKey, defects);
    const held = Map.groupBy(linkRows(core.store).ofRepo.all(teamId, repoKey), entryText);
    const scene = openScene(core, teamId, repoKey);
    const yieldNow = cooperative(core.clock);
    const counts = { ...NOTHING } as { -readonly [K in keyof Correlated]: number };
    let changes: (() => unknown)[] = [];
    const store = async () => {
      const now = changes;
      changes = [];
      if (now.length > 0)
        await core.store.write(() => {
          for (const change of now) change();
        });
    };
    for (const defect of defects) {
      if (!which(defect)) continue;
      await yieldNow();
      const key: EntryKey = { teamId, repoKey, path: defect.path, heading: defect.heading, ordinal: defect.ordinal };
      const links = held.get(entryText(key)) ?? [];
      const wanted = wantedLinks(scene, defect, rejectedIn(links));
      changes.push(...changesOf(core, key, defect.id, links, wanted));
      if (changes.length >= MAX_CHANGES) await store();
      counts.considered++;
      counts[outcomeOf(links, wanted)]++;
    }
    await store();
    return counts;
  });
}

const rejectedIn = (links: readonly LinkRow[]): Set<number> =>
  new Set(links.flatMap(({ verdict, sessionId }) => (verdict === "rejected" && sessionId !== null ? [sessionId] : [])));

const isWord = ({ origin, verdict }: LinkRow): boolean =>
  verdict !== "rejected" && (origin === "person" || verdict === "confirmed");

function outcomeOf(links: readonly LinkRow[], wanted: readonly WantedLink[]): "linked" | "possible" | "unlinked" {
  if (links.some(isWord) || wanted.some(({ band }) => band !== "weak")) return "linked";
  return wanted.length > 0 ? "possible" : "unlinked";
}

/** What must change for an entry's computed links to stand as wanted. Those that somebody judged stay as they are. */
function changesOf(
  core: Core,
  key: EntryKey,
  entryId: number,
  links: readonly LinkRow[],
  wanted: readonly WantedLink[],
): (() => unknown)[] {
  const sql = linkRows(core.store);
  const now = core.clock.now();
  const computed = new Map(links.filter(({ origin }) => origin === "computed").map((link) => [link.sessionId, link]));
  const changes: (() => unknown)[] = [];
  for (const link of wanted) {
    const held = computed.get(link.sessionId);
    computed.delete(link.sessionId);
    if (held?.verdict != null) continue;
    if (!held) {
      const row: LinkRow = {
        ...{ ...key, ...link, id: newId("lnk", core.clock, core.random), origin: "computed" },
        ...{
          verdict: null,
          decidedBy: null,
          decidedAt: null,
          createdAt: now,
          updatedAt: now,
          entryId,
          goneAfter: null,
        },
      };
      changes.push(() => sql.insert.run(row));
    } else if (!isSame(held, link)) {
      const { sessionId: _, ...columns } = link;
      changes.push(() => sql.update.run({ ...columns, id: held.id, updatedAt: now }));
    }
  }
  for (const { id, verdict } of computed.values()) if (verdict === null) changes.push(() => sql.drop.run(id));
  return changes;
}

function isSame(held: LinkRow, link: WantedLink): boolean {
  return (
    held.fingerprint.equals(link.fingerprint) &&
    (["date", "band", "commit", "promptExcerpt", "evidence"] as const).every((name) => held[name] === link[name])
  );
}

/** Correlates every repository of a team, or one. */
export async function correlate(core: Core, teamId: string, repoKey?: string): Promise<Correlated> {
  const repoKeys =
    repoKey === undefined ? [...new Set(listDefects(core, teamId).map((defect) => defect.repoKey))].sort() : [repoKey];
  let sum = NOTHING;
  for (const one of repoKeys) {
    const found = await correlateRepository(core, teamId, one);
    sum = {
      considered: sum.considered + found.considered,
      linked: sum.linked + found.linked,
      possible: sum.possible + found.possible,
      unlinked: sum.unlinked + found.unlinked,
    };
  }
  return sum;
}
