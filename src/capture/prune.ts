import { existsSync } from "node:fs";
import { programVersion } from "../kit/assets.ts";
import { DAY_MS } from "../kit/clock.ts";
import { dropOldBriefings } from "./brain/briefing.ts";
import { preparePruneRows } from "./prune-rows.ts";
import { pruneReceipts } from "./receipts.ts";
import { notBefore } from "./schedule.ts";
import { dropUnfinishedNotes } from "./sources/rings.ts";
import { type Capture, FORGOTTEN, readSetting, writeSetting } from "./state.ts";

const KEEP_SENT_MS = 7 * DAY_MS;
const KEEP_SEEN_MS = 120 * DAY_MS;
/** Agents make work trees by the dozen. Sessions that began in one remember its repository. */
const KEEP_GONE_FOLDERS_MS = 30 * DAY_MS;
/** Each may be as long as a request. */
const MAX_REJECTED = 100;
const PRUNED_AT_ONCE = 50_000;
/** Free pages of 4 KiB that are kept for what comes next, and that are given back in one transaction. */
const KEPT_PAGES = 2_000;

/** Forgets what the server has had for a week, what was read four months ago, and sessions that ended by then. */
export function prune(capture: Capture): void {
  const { rows, clock } = capture;
  const now = clock.now();
  const isAll = capture.transact(() => {
    const horizon = Math.max(
      readSetting<number>(capture, FORGOTTEN) ?? 0,
      rows.seenBefore.get(now - KEEP_SEEN_MS) ?? 0,
      rows.quietBefore.get(now - KEEP_SEEN_MS) ?? 0,
    );
    if (horizon > 0) writeSetting(capture, FORGOTTEN, horizon);
    rows.pruneEntries.run(now - KEEP_SENT_MS);
    rows.pruneSpans.run(now - KEEP_SENT_MS);
    rows.pruneCalls.run(now - KEEP_SEEN_MS);
    rows.pruneQuiet.run(now - KEEP_SEEN_MS);
    rows.pruneRejected.run(now - KEEP_SEEN_MS, MAX_REJECTED);
    pruneReceipts(capture);
    // A file that comes back is from before the horizon.
    for (const path of rows.sourcesBefore.all(now - KEEP_SEEN_MS)) if (!existsSync(path)) rows.dropSource.run(path);
    dropEnded(capture, now - KEEP_SEEN_MS);
    return rows.pruneSeen.run(now - KEEP_SEEN_MS, PRUNED_AT_ONCE).changes < PRUNED_AT_ONCE;
  });
  dropOldBriefings(capture);
  const gone = rows.foldersBefore.all(now - KEEP_GONE_FOLDERS_MS).filter((path) => !existsSync(path));
  capture.transact(() => {
    for (const path of gone) rows.dropFolder.run(path);
  });
  dropUnfinishedNotes(capture, now - DAY_MS);
  // Where many agents work, more is read in a day than goes at once: the next pass goes on.
  if (isAll) notBefore(capture, "prune", DAY_MS);
  giveRoomBack(capture);
}

/** A setting: the version of the program that read last. */
export const READ_BY = "readBy";

/** Forgets the kinds of records that an earlier version did not know. People were told that a newer version may, and this is one. */
export function forgetUnknown(capture: Capture): void {
  const version = programVersion();
  if (readSetting(capture, READ_BY) === version) return;
  capture.transact(() => {
    preparePruneRows(capture.db).dropUnknown.run();
    writeSetting(capture, READ_BY, version);
  });
}

/** Agents that name each transcript by its session's id, or by the first eight digits of it, and keep all of a session there. */
const NAMED_BY_SESSION = ["claude-code", "codex", "gemini-cli", "copilot-cli"];
const EIGHT_DIGITS = /(?<![0-9a-z])[0-9a-f]{8}(?![0-9a-z])/g;

/** Forgets sessions that the server has and that cannot go on: none of their transcripts is left. */
function dropEnded({ db }: Capture, before: number): void {
  const rows = preparePruneRows(db);
  const left = new Set(rows.sourcePaths.all().flatMap((path) => path.match(EIGHT_DIGITS) ?? []));
  for (const { id, agent } of rows.sentBefore.all(before)) {
    const isNamed = NAMED_BY_SESSION.includes(agent) && /^[0-9a-f]{8}-/.test(id);
    if (isNamed && !left.has(id.slice(0, 8))) for (const drop of rows.dropSession) drop.run(id);
  }
}

/**
 * Gives free pages back, so that the thirty days read at connecting do not take room for ever. Files that an earlier version made stay as
 * large.
 */
function giveRoomBack({ db }: Capture): void {
  const freePages = () => db.pragma("freelist_count", { simple: true }) as number;
  for (let free = freePages(), before = Number.POSITIVE_INFINITY; free > KEPT_PAGES && free < before; ) {
    db.pragma(`incremental_vacuum(${Math.min(KEPT_PAGES, free - KEPT_PAGES)})`);
    before = free;
    free = freePages();
  }
}
