import type { Core } from "../../core.ts";
import { readSessionId } from "../../formats/payload.ts";
import { asObject } from "../../formats/values.ts";
import { withDeviceLabels } from "../../identity/devices/devices.ts";
import { jsonHolds } from "../../kit/json-holds.ts";
import type { Page } from "../../kit/page.ts";
import { type ScanQuery, scanPage } from "../../kit/scan-page.ts";
import { cooperative } from "../../kit/yield.ts";
import { type ConflictRow, conflictsWith } from "./browse.ts";
import { browseRows } from "./browse-rows.ts";
import { type Gap, isErasedEntry } from "./rules.ts";
import { entryById, type StoredEntry, streamDown, streamUp } from "./segments.ts";
import {
  type EntryChunk,
  type Scope,
  type Spending,
  type WalkedEntry,
  walkArrivals,
  walked,
  walkStream,
} from "./walk.ts";

/** Which entries are shown. Absent members do not narrow. */
export interface EntryFilter extends Scope {
  /** The payload's `type`, exactly. */
  readonly type?: string | undefined;
  /** The session that the payload names, exactly. */
  readonly sessionId?: string | undefined;
  /** A text in the payload, in upper or lower case. */
  readonly text?: string | undefined;
  /** Only entries under whose seq other content came too. */
  readonly flagged?: "conflict" | undefined;
}

export interface EntryRow {
  readonly id: number;
  readonly streamId: number;
  readonly deviceId: string;
  readonly deviceLabel: string | null;
  readonly repoKey: string;
  readonly seq: number;
  readonly receivedAt: number;
  readonly clientTimestamp: string | null;
  /** The JSON text as sent, but for redactions. */
  readonly payload: string;
  /** The payload's `type`, where it is a string, and the session that it names. */
  readonly type: string | null;
  readonly sessionId: string | null;
  /** How the delivery that brought the entry was flagged. */
  readonly deliveryFlag: "gap" | "rollback" | null;
  /** Other content came under the same seq: see `listConflicts`. */
  readonly conflict: boolean;
  /** Sequence numbers just below this one that never arrived. */
  readonly missingBefore?: Gap;
}

export interface EntryPage extends Page<EntryRow> {
  /** By arrival across streams; by seq within one stream, when no times are asked for. */
  readonly order: "arrival" | "seq";
  /** Entries looked at for this page. */
  readonly examined: number;
  /** Set when looking stopped before the page was full: all that came after this instant was looked at, and `older` (or `newer`) goes on. */
  readonly examinedTo?: number;
}

/** What one page may look at, so that a filter that nothing matches does not read a million entries. */
const MAX_EXAMINED = { entries: 12_000, deliveries: 30_000, chars: 16_000_000 };

/** A page of a team's entries, newest first. @param limit 1 to 200, 50 by default */
export async function listEntries(
  core: Core,
  teamId: string,
  query: EntryFilter & { readonly cursor?: string | undefined; readonly limit?: number | undefined } = {},
): Promise<EntryPage> {
  const chosen = chooseWalk(core, teamId, query);
  if (!chosen) return { rows: [], order: "seq", examined: 0 };
  const { order, parts, walk } = chosen;
  const { rows, left, stoppedAt, ...links } = await scanPage({
    cursor: query.cursor,
    limit: query.limit,
    parts,
    budget: MAX_EXAMINED,
    keyOf: ({ key }: WalkedEntry) => key,
    walk,
    matches: entryFilter(core, query),
  });
  return {
    rows: await describe(core, rows),
    order,
    examined: MAX_EXAMINED.entries - left.entries,
    ...links,
    ...(stoppedAt ? { examinedTo: stoppedAt.receivedAt } : {}),
  };
}

interface ChosenWalk extends Pick<ScanQuery<WalkedEntry, EntryChunk, Spending>, "parts" | "walk"> {
  readonly order: EntryPage["order"];
}

/** One stream is read along its own index; undefined when nothing can be found. */
function chooseWalk(core: Core, teamId: string, query: EntryFilter): ChosenWalk | undefined {
  const { deviceId, deviceIds, repoKey, from, to, flagged } = query;
  if (flagged !== undefined && !anyConflict(core, teamId, query)) return undefined;
  if (deviceId !== undefined && repoKey !== undefined) {
    const streamId = browseRows(core.store).stream.get(deviceId, repoKey, teamId);
    if (streamId === undefined) return undefined;
    if (from === undefined && to === undefined && deviceIds === undefined)
      return { order: "seq", parts: 1, walk: walkStream.bind(null, core, streamId) };
  }
  const scope = { deviceId, deviceIds, repoKey, from, to };
  return { order: "arrival", parts: 2, walk: walkArrivals.bind(null, core, teamId, scope) };
}

function anyConflict(core: Core, teamId: string, { deviceId, repoKey }: Scope): boolean {
  const sql = browseRows(core.store);
  const [device, repo] = [deviceId ?? null, repoKey ?? null];
  return sql.streamsInConflict.get(teamId, device, device, repo, repo) !== undefined;
}

/** Tells whether a filter lets an entry through. The walk sees to device, repository and time. */
export function entryFilter(
  core: Core,
  { type, sessionId, text, flagged }: EntryFilter,
): (entry: WalkedEntry) => boolean {
  const sql = browseRows(core.store);
  const holds = text ? jsonHolds(text) : undefined;
  return (entry) => {
    if (holds && !holds(entry.payload)) return false;
    if (type !== undefined || sessionId !== undefined) {
      const its = membersOf(entry.payload);
      if (its.type !== (type ?? its.type) || its.sessionId !== (sessionId ?? its.sessionId)) return false;
    }
    return flagged === undefined || sql.hasConflict.get(entry.streamId, entry.seq) !== undefined;
  };
}

/** An entry with its neighbours in its stream, and what else came under its seq. */
interface EntryDetail extends EntryRow {
  /** Ids of the entries before and after it in the stream. */
  readonly previousId: number | null;
  readonly nextId: number | null;
  /** The first twenty, oldest first. */
  readonly conflicts: readonly ConflictRow[];
}

const MAX_CONFLICTS = 20;
/** Erased ones among them are passed over. */
const MAX_NEIGHBOURS = 20;
const nearest = (entries: readonly StoredEntry[]) => entries.find((entry) => !isErasedEntry(entry))?.id ?? null;

/** One entry of a team. @returns undefined when the team has no such entry */
export function findEntry(core: Core, teamId: string, id: number): EntryDetail | undefined {
  const sql = browseRows(core.store);
  const stored = Number.isSafeInteger(id) ? entryById(core, id) : undefined;
  const [entry] =
    stored && !isErasedEntry(stored) && sql.ownerOf.get(stored.streamId)?.teamId === teamId
      ? walked(core, [stored])
      : [];
  if (!entry) return undefined;
  const { streamId, seq } = entry;
  const [labelled] = withDeviceLabels(core, [entry]) as [LabelledEntry];
  const row = described(core, labelled);
  return {
    ...row,
    previousId: nearest(streamDown(core, streamId, seq, MAX_NEIGHBOURS)),
    nextId: nearest(streamUp(core, streamId, seq, MAX_NEIGHBOURS)),
    conflicts: conflictsWith(core, sql.conflictsUnder.all(streamId, seq, MAX_CONFLICTS)),
  };
}

function membersOf(payload: string): { type: string | null; sessionId: string | null } {
  const value = asObject(JSON.parse(payload));
  return { type: typeof value.type === "string" ? value.type : null, sessionId: readSessionId(value) };
}

interface LabelledEntry extends WalkedEntry {
  readonly deviceLabel: string | null;
}

/** Entries as they are shown; others get their turn between two, since their payloads are parsed for it. */
async function describe(core: Core, entries: readonly WalkedEntry[]): Promise<EntryRow[]> {
  const yieldNow = cooperative(core.clock);
  const rows: EntryRow[] = [];
  for (const entry of withDeviceLabels(core, entries)) {
    rows.push(described(core, entry));
    await yieldNow();
  }
  return rows;
}

function described(core: Core, entry: LabelledEntry): EntryRow {
  const sql = browseRows(core.store);
  const { id, streamId, deviceId, deviceLabel, repoKey, seq, receivedAt, clientTimestamp, payload } = entry;
  const gap = sql.gapBelow.get(streamId, seq);
  return {
    id,
    streamId,
    deviceId,
    deviceLabel,
    repoKey,
    seq,
    receivedAt,
    clientTimestamp,
    payload,
    ...membersOf(payload),
    deliveryFlag: entry.flagged,
    conflict: sql.hasConflict.get(streamId, seq) !== undefined,
    ...(gap && gap.to === seq - 1 ? { missingBefore: gap } : {}),
  };
}
