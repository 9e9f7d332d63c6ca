import { type Core, slot } from "../../core.ts";
import { newId } from "../../kit/ids.ts";
import { Turns } from "../../kit/turns.ts";
import { cooperative } from "../../kit/yield.ts";
import { inBatches, type RowChange } from "../../platform/projections/projections.ts";
import { type Defect, defectFacts, listDefects } from "../defects/defects.ts";
import { countedIn, recountRepository, recountSessions } from "./count-caused.ts";
import { type DesiredLink, desiredLinks } from "./desired-links.ts";
import { copyOf, hasHumanVerdict, type LinkRow, linkRows } from "./link-rows.ts";
import { reattach } from "./reattach.ts";
import { openSignals } from "./signals.ts";
import { storeLink } from "./store-link.ts";

/** In: a repository's entries and what its sessions told. Out: causal_links as they ought to be, and how many there are of each. */

/** What correlation made of the entries it looked at. */
export interface Correlated {
  readonly considered: number;
  /** Entries put down to a session, by evidence or by a person. */
  readonly linked: number;
  /** Entries for which only possible sessions are known. */
  readonly possible: number;
  readonly unlinked: number;
}

/** One run of a team at a time. */
const running = slot(() => new Turns());

/**
 * Puts a repository's entries down to sessions, as far as the evidence goes, and stores what changed: run again, nothing
 * does. Entries and evidence are as fresh as their projections.
 */
export function correlateRepository(core: Core, teamId: string, repoKey: string): Promise<Correlated> {
  return running(core).after(teamId, async () => {
    const yieldNow = cooperative(core.clock);
    const defects = listDefects(core, teamId, { repoKey });
    await yieldNow();
    const before = countedIn(core, teamId, repoKey);
    await yieldNow();
    await reattach(core, teamId, repoKey, defects);
    const { counts } = await compare(core, teamId, repoKey, defects);
    await recountRepository(core, teamId, repoKey, before);
    return counts;
  });
}

/**
 * The same for some entries, where sessions changed and not they: what it costs does not grow with the others.
 * @param read asked for them once no other run of the team is on
 */
export function correlateEntries(
  core: Core,
  teamId: string,
  repoKey: string,
  read: () => readonly Defect[],
): Promise<void> {
  return running(core).after(teamId, async () => {
    const { sessionIds } = await compare(core, teamId, repoKey, read());
    await recountSessions(core, sessionIds);
  });
}

/**
 * Stores the links that entries ought to have. @returns how many links of each kind there are, and the sessions that the entries were put
 * down to or are now
 */
async function compare(core: Core, teamId: string, repoKey: string, defects: readonly Defect[]) {
  const signals = openSignals(core, teamId, repoKey);
  const yieldNow = cooperative(core.clock);
  const counts = { considered: 0, linked: 0, possible: 0, unlinked: 0 };
  const sessionIds = new Set<number>();
  async function* changes() {
    for (const defect of defects) {
      await yieldNow();
      const links = linkRows(core.store).ofEntry.all(defect.id);
      const desired = desiredLinks(signals, defect, rejectedIn(links));
      for (const { sessionId } of [...links, ...desired]) if (sessionId !== null) sessionIds.add(sessionId);
      counts.considered++;
      counts[outcomeOf(links, desired)]++;
      yield* changesOf(core, teamId, defect, links, desired);
    }
  }
  for await (const batch of inBatches(changes())) await core.store.write(batch);
  return { counts, sessionIds };
}

const rejectedIn = (links: readonly LinkRow[]): Set<number> =>
  new Set(links.flatMap(({ verdict, sessionId }) => (verdict === "rejected" && sessionId !== null ? [sessionId] : [])));

function outcomeOf(links: readonly LinkRow[], desired: readonly DesiredLink[]): "linked" | "possible" | "unlinked" {
  if (links.some(hasHumanVerdict) || desired.some(({ band }) => band !== "weak")) return "linked";
  return desired.length > 0 ? "possible" : "unlinked";
}

/** What must change for an entry's computed links to be the desired ones. Those that somebody judged stay as they are. */
function changesOf(
  core: Core,
  teamId: string,
  defect: Defect,
  links: readonly LinkRow[],
  desired: readonly DesiredLink[],
): RowChange[] {
  const sql = linkRows(core.store);
  const now = core.clock.now();
  const computed = new Map(links.filter(({ origin }) => origin === "computed").map((link) => [link.sessionId, link]));
  const changes: RowChange[] = [];
  for (const link of desired) {
    const stored = computed.get(link.sessionId);
    computed.delete(link.sessionId);
    if (stored?.verdict != null) continue;
    if (!stored) {
      const id = newId("lnk", core.clock, core.random);
      const times = { createdAt: now, updatedAt: now };
      const row = { ...copyOf(defect), ...link, ...times, id, teamId, origin: "computed", saidBy: null } as const;
      changes.push(() => storeLink(core, row));
    } else if (!isSame(stored, link)) {
      const { sessionId: _, ...columns } = link;
      changes.push(() => sql.update.run({ ...columns, id: stored.id, updatedAt: now }));
    }
  }
  for (const { id, verdict } of computed.values()) if (verdict === null) changes.push(() => sql.drop.run(id));
  return changes;
}

const isSame = (stored: LinkRow, link: DesiredLink): boolean =>
  (["band", "commit", "promptExcerpt", "evidence"] as const).every((name) => stored[name] === link[name]);

/** Correlates every repository of a team, or one. */
export async function correlate(core: Core, teamId: string, repoKey?: string): Promise<Correlated> {
  const repoKeys = repoKey === undefined ? defectFacts.repoKeys(core, teamId) : [repoKey];
  const sum = { considered: 0, linked: 0, possible: 0, unlinked: 0 };
  for (const key of repoKeys.toSorted()) {
    const counts = await correlateRepository(core, teamId, key);
    for (const name of ["considered", "linked", "possible", "unlinked"] as const) sum[name] += counts[name];
  }
  return sum;
}
