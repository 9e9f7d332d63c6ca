import { createHash } from "node:crypto";
import { type Core, slot } from "../../core.ts";
import { cooperative } from "../../kit/yield.ts";
import { deliveriesAfter, newestDelivery } from "../../log/log.ts";
import { type Batch, catchUp, type Projection, refreshWithin } from "../../platform/projections/projections.ts";
import { commitNotes, sessionSequence } from "../../record/traces/traces.ts";
import { type Defect, defectFacts, entriesProjection, listDefects } from "../defects/defects.ts";
import { correlateEntries, correlateRepository } from "./correlate.ts";
import { evidenceRows } from "./evidence-rows.ts";
import { evidenceProjection, sessionsNoted } from "./follow-sessions.ts";
import { linkRows } from "./link-rows.ts";
import { textReader } from "./signals.ts";
import { datesFor } from "./window.ts";

/** Deliveries of one batch. */
const MAX_DELIVERIES = 1_000;

/**
 * For pages: brings the links, and with them the entries and what is known of sessions, up to what was delivered where that is
 * soon done, else what stands is shown.
 */
export const freshenLinks = (core: Core): Promise<void> => refreshWithin(core, linksProjection);

/** What a repository's entries looked like when they were correlated last. */
const correlated = slot(() => new Map<string, string>());
const MAX_REMEMBERED = 10_000;

/**
 * Keeps causal_links after what arrives: a brain whose entries changed is correlated whole, a session with the entries that it
 * may have caused. The work is done in transactions of its own, of which each repeated changes nothing.
 */
export const linksProjection: Projection = {
  name: "links",
  newest: newestDelivery,
  async next(core: Core, checkpoint: number, alone: boolean): Promise<Batch | undefined> {
    const deliveries = deliveriesAfter(core, checkpoint, alone ? 1 : MAX_DELIVERIES);
    const last = deliveries.at(-1);
    if (!last) return undefined;
    if (deliveries.some(({ kind }) => kind !== "telemetry")) {
      await catchUp(core, entriesProjection);
      await catchUp(core, evidenceProjection);
    }
    const brains = new Map<string, { teamId: string; repoKey: string }>();
    for (const { kind, teamId, repoKey } of deliveries)
      if (kind === "brain") brains.set(`${teamId} ${repoKey}`, { teamId, repoKey });
    const done = new Set<string>();
    for (const [key, { teamId, repoKey }] of brains)
      if (await correlateChanged(core, teamId, repoKey, key)) done.add(key);
    if (deliveries.some(({ kind }) => kind === "traces")) {
      await correlateSessions(core, changedBetween(core, checkpoint, last.id), done);
      await correlateCommits(core, commitNotes.replacedBetween(core, checkpoint, last.id), done);
    }
    return { to: last.id };
  },
  skip: (core, checkpoint) => deliveriesAfter(core, checkpoint, 1)[0]?.id,
};

/** The sessions of which something is known anew: by what they say, or by notes. */
function changedBetween(core: Core, after: number, upTo: number): SessionPlace[] {
  const sessions = [...sessionSequence.between(core, after, upTo), ...sessionsNoted(core, after, upTo)];
  return [...new Map(sessions.map((session) => [session.id, session])).values()];
}

/** Correlates a repository whose entries are not those of last time. @returns whether it had to */
async function correlateChanged(core: Core, teamId: string, repoKey: string, key: string): Promise<boolean> {
  const known = correlated(core);
  const digest = await digestOf(core, teamId, repoKey);
  if (known.get(key) === digest) return false;
  await correlateRepository(core, teamId, repoKey);
  if (known.size >= MAX_REMEMBERED) known.clear();
  known.set(key, digest);
  return true;
}

/** Everything of a repository's entries that correlation looks at. */
async function digestOf(core: Core, teamId: string, repoKey: string): Promise<string> {
  const texts = textReader(core, teamId, repoKey);
  const yieldNow = cooperative(core.clock);
  const digest = createHash("sha256");
  for (const defect of listDefects(core, teamId, { repoKey })) {
    await yieldNow();
    const { id, path, heading, ordinal, date, fingerprint, commits, files } = defect;
    const text = commits.length > 0 && texts(defect);
    digest.update(
      JSON.stringify([id, path, heading, ordinal, date, fingerprint.toString("hex"), commits, files, text]),
    );
  }
  return digest.digest("base64");
}

/** Which entries of a repository are looked at again. */
interface Reach {
  from: string;
  to: string;
  /** Dates of entries that are put down to the sessions now. */
  readonly linked: Set<string>;
  /** Every entry that names a commit: a session that tells no time may have made it. */
  anyCommit: boolean;
}

const reachNothing = (): Reach => ({ from: "9999-12-31", to: "0000-01-01", linked: new Set(), anyCommit: false });

type SessionPlace = ReturnType<typeof sessionSequence.between>[number];

/** Correlates the entries that sessions may have caused, or were thought to. */
async function correlateSessions(core: Core, sessions: readonly SessionPlace[], done: ReadonlySet<string>) {
  for (const correlateAnew of await contestedBy(core, sessions)) await correlateAnew(done);
}

/**
 * Prepares to correlate the entries that some sessions may have caused, or that are put down to them now.
 * @returns functions that do it, for each team, also when the sessions are gone by then
 */
export async function contestedBy(core: Core, sessions: readonly SessionPlace[]) {
  const contested: ((done?: ReadonlySet<string>) => Promise<void>)[] = [];
  for (const [teamId, ofTeam] of Map.groupBy(sessions, (session) => session.teamId)) {
    const reaches = await reachOfAll(core, ofTeam);
    contested.push((done = new Set()) => correlateWithin(core, teamId, reaches, done));
  }
  return contested;
}

async function correlateWithin(
  core: Core,
  teamId: string,
  reaches: ReadonlyMap<string, Reach>,
  done: ReadonlySet<string>,
): Promise<void> {
  const within = (repoKey: string, reach: Reach, isMeant = (_: Defect) => true) =>
    correlateEntries(core, teamId, repoKey, () =>
      listDefects(core, teamId, { repoKey, fromDate: firstDate(reach) }).filter(
        (defect) => isMeant(defect) && isWithin(defect, reach),
      ),
    );
  for (const [repoKey, reach] of reaches) if (!done.has(`${teamId} ${repoKey}`)) await within(repoKey, reach);
  // A session that named no repository may have made the commits that entries of any repository name.
  const withoutRepo = reaches.get("");
  if (!withoutRepo) return;
  for (const repoKey of defectFacts.repoKeys(core, teamId))
    if (repoKey !== "" && !done.has(`${teamId} ${repoKey}`))
      await within(repoKey, withoutRepo, ({ commits }) => commits.length > 0);
}

/** Correlates the entries that name commits whose notes may name other sessions now; nothing else tells of such a change. */
async function correlateCommits(
  core: Core,
  commits: ReturnType<typeof commitNotes.replacedBetween>,
  done: ReadonlySet<string>,
) {
  for (const [teamId, ofTeam] of Map.groupBy(commits, (commit) => commit.teamId)) {
    const isMeant = (defect: Defect) =>
      defect.commits.some((named) => ofTeam.some(({ sha }) => sha.toLowerCase().startsWith(named)));
    for (const repoKey of defectFacts.repoKeys(core, teamId))
      if (!done.has(`${teamId} ${repoKey}`))
        await correlateEntries(core, teamId, repoKey, () => listDefects(core, teamId, { repoKey }).filter(isMeant));
  }
}

/** By repository. Links may stand in another one than the session does: it may have moved. */
async function reachOfAll(core: Core, sessions: readonly SessionPlace[]): Promise<Map<string, Reach>> {
  const yieldNow = cooperative(core.clock);
  const reaches = new Map<string, Reach>();
  const reachIn = (repoKey: string): Reach => reaches.getOrInsertComputed(repoKey, reachNothing);
  for (const { id, repoKey } of sessions) {
    const wait = yieldNow();
    if (wait) await wait;
    for (const linked of linkRows(core.store).entriesOfSession.all(id)) reachIn(linked.repoKey).linked.add(linked.date);
    const reach = reachIn(repoKey);
    const window = evidenceRows(core.store).window.get(id);
    const dates = window && datesFor(window);
    if (!dates) {
      reach.anyCommit = true;
      continue;
    }
    if (dates.from < reach.from) reach.from = dates.from;
    if (dates.to > reach.to) reach.to = dates.to;
  }
  return reaches;
}

/** No entry that is within a reach has an earlier date. */
const firstDate = ({ from, linked, anyCommit }: Reach): string =>
  anyCommit ? "" : [...linked].reduce((first, date) => (date < first ? date : first), from);

function isWithin({ date, commits }: Defect, { from, to, linked, anyCommit }: Reach): boolean {
  return (date >= from && date <= to) || linked.has(date) || (anyCommit && commits.length > 0);
}
