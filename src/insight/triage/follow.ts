import type { Core } from "../../core.ts";
import { DAY_MS, isoDate } from "../../kit/clock.ts";
import { sha256 } from "../../kit/hash.ts";
import { recordCameAgain } from "./came-again.ts";
import { rows, type WordRow } from "./rows.ts";
import { isSnoozed } from "./standing.ts";

/** An entry as its class is told of it. */
interface ClassEntry {
  readonly id: number;
  readonly repoKey: string;
  readonly date: string;
  readonly heading: string;
  readonly ordinal: number;
  readonly kind: string;
  readonly title: string;
  readonly rule: string | null;
}

/** What a class's entries come to now. */
export interface ClassFacts {
  readonly occurrences: number;
  /** Of them, those whose file says that they are open. */
  readonly open: number;
  readonly firstSeen: string;
  readonly firstRepo: string;
  readonly repos: readonly string[];
  /** The newest first, one at least. */
  readonly newest: readonly ClassEntry[];
}

/** Digests kept of a class's newest entries. */
const MAX_RECENT = 40;
const DIGEST_BYTES = 9;
const MAX_REPOS = 100;
const MAX_TITLE_CHARS = 300;
const MAX_RULE_CHARS = 500;
/** Calendars are at most this far behind UTC (UTC-12). */
const FURTHEST_BEHIND_MS = DAY_MS / 2;

/**
 * Row change: stores what a class's entries come to, in the transaction that changed them. A class that was resolved, or snoozed until it
 * comes again, has come again when an entry joins that is new and is dated on the day of that word or later. What happened earlier and was
 * only published later changes nothing.
 * @param facts undefined when the class has no entries any more
 * @param joined numbers of entries that are of the class now and were not
 */
export function storeClass(
  core: Core,
  teamId: string,
  fingerprint: string,
  facts: ClassFacts | undefined,
  joined: ReadonlySet<number>,
): void {
  const sql = rows(core.store);
  const [newest] = facts?.newest ?? [];
  if (!facts || !newest) {
    const isSpokenOf = sql.words.all(teamId, fingerprint).length > 0 || sql.hasEvents.get(teamId, fingerprint) === 1;
    (isSpokenOf ? sql.emptyClass : sql.dropClass).run(teamId, fingerprint);
    return;
  }
  const before = new Set(recentOf(sql.classOf.get(teamId, fingerprint)?.recent));
  const { occurrences, open, firstSeen, firstRepo, repos } = facts;
  const { date: lastSeen, repoKey, kind, title, heading, rule, id: newestId } = newest;
  const digests = facts.newest.map(digestOf);
  sql.putClass.run({
    ...{ teamId, class: fingerprint, occurrences, open, firstSeen, lastSeen, firstRepo, repoKey, kind, newestId },
    repos: JSON.stringify(repos.slice(0, MAX_REPOS)),
    title: (title || heading).slice(0, MAX_TITLE_CHARS).toWellFormed(),
    rule: rule === null ? null : rule.slice(0, MAX_RULE_CHARS).toWellFormed(),
    recent: JSON.stringify([...new Set([...digests, ...before])].slice(0, MAX_RECENT)),
  });
  for (const id of joined) sql.moveWord.run(fingerprint, teamId, id, fingerprint);
  const came = facts.newest.filter((entry) => joined.has(entry.id) && !before.has(digestOf(entry)));
  reopen(core, sql.word.get(teamId, fingerprint, 0), came);
  if (came.length > 0) sql.wakeEntries.run(teamId, fingerprint);
}

/** @param came entries that are new, the newest first */
function reopen(core: Core, word: WordRow | undefined, came: readonly ClassEntry[]): void {
  if (!word || (word.state !== "resolved" && word.snoozed !== "again")) return;
  const now = core.clock.now();
  // A word that was said while the clock was ahead was said before now all the same.
  const said = Math.min(word.stateAt ?? 0, now);
  const since = isoDate(said - FURTHEST_BEHIND_MS);
  const entry = came.find(({ date }) => date >= since);
  if (!entry) return;
  // Somebody who snoozed an error until a day does not want to hear of it before: it stays snoozed, and shows as come again from that day on.
  const isUntilLater = word.snoozed === "until" && isSnoozed(word, now);
  const snooze = isUntilLater ? {} : { snoozed: null, snoozedUntil: null };
  rows(core.store).putWord.run({ ...word, state: "again", stateAt: now, ...snooze, revision: word.revision + 1 });
  const { teamId, class: fingerprint } = word;
  const { id: entryId, date, repoKey, title, heading } = entry;
  recordCameAgain(core, { teamId, fingerprint, entryId, date, repoKey, title: title || heading }, !isUntilLater);
}

const recentOf = (text: string | undefined): string[] => (text === undefined ? [] : (JSON.parse(text) as string[]));

/** Tells an entry that is there again, as another device's brain may not have it, from a new one. */
const digestOf = ({ repoKey, date, heading, ordinal }: ClassEntry): string =>
  sha256(JSON.stringify([repoKey, date, heading, ordinal]))
    .subarray(0, DIGEST_BYTES)
    .toString("base64url");
