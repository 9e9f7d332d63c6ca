import type { Core } from "../../core.ts";
import { isObject } from "../../kit/json.ts";
import { type Key, type Page, pageSize, readCursor, type Towards, writeCursor } from "../../kit/page.ts";
import { browseRows, type ConflictRow } from "./browse-rows.ts";
import type { Gap } from "./rules.ts";
import { type Budget, type Scope, type Stretch, type WalkedEntry, walkArrivals, walkStream } from "./walk.ts";

/** Which entries are shown. Absent members do not narrow. */
export interface EntryFilter extends Scope {
  /** The payload's `type`, exactly. */
  readonly type?: string | undefined;
  /** Stands somewhere in the payload, in any case. */
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
  /** The payload's `type` and `sessionId`, where they are strings. */
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
const MAX_EXAMINED = { entries: 20_000, deliveries: 50_000, chars: 16_000_000 };

/** A page of a team's entries, newest first. @param limit 1 to 200, 50 by default */
export async function listEntries(
  core: Core,
  teamId: string,
  asked: EntryFilter & { readonly cursor?: string | undefined; readonly limit?: number | undefined } = {},
): Promise<EntryPage> {
  const walk = chooseWalk(core, teamId, asked);
  if (!walk) return { rows: [], order: "seq", examined: 0 };
  const size = pageSize(asked.limit);
  const cursor = readCursor(asked.cursor, walk.parts);
  const towards = cursor?.towards ?? "older";
  const budget: Budget = { ...MAX_EXAMINED };
  const wanted = sieve(core, asked);
  const found: WalkedEntry[] = [];
  let last: Stretch | undefined;
  for await (const stretch of walk.go(towards, cursor?.key, budget)) {
    last = stretch;
    for (const entry of stretch.entries) if (found.length <= size && wanted(entry)) found.push(entry);
    if (found.length > size) break;
  }
  const more = found.length > size;
  const cutShort = !more && (budget.entries <= 0 || budget.deliveries <= 0 || budget.chars <= 0);
  // Arrived at the top with room left: the first page says the same and is whole.
  if (cursor && towards === "newer" && !more && !cutShort) return listEntries(core, teamId, { ...asked, cursor: "" });

  const rows = found.slice(0, size);
  const ahead = more ? (rows.at(-1) as WalkedEntry).key : cutShort ? last?.at : undefined;
  const behind = cursor ? (rows[0]?.key ?? cursor.key) : undefined;
  if (towards === "newer") rows.reverse();
  return {
    rows: describe(core, rows),
    order: walk.order,
    examined: MAX_EXAMINED.entries - budget.entries,
    ...link(towards, ahead),
    ...link(towards === "older" ? "newer" : "older", behind),
    ...(cutShort && last ? { examinedTo: last.receivedAt } : {}),
  };
}

const link = (towards: Towards, key: Key | undefined) => (key ? { [towards]: writeCursor({ towards, key }) } : {});

interface Walk {
  readonly order: "arrival" | "seq";
  readonly parts: number;
  readonly go: (towards: Towards, start: Key | undefined, budget: Budget) => AsyncGenerator<Stretch>;
}

/** One stream is read along its own index; undefined when nothing can be found. */
function chooseWalk(core: Core, teamId: string, asked: EntryFilter): Walk | undefined {
  const { deviceId, repoKey, from, to, flagged } = asked;
  if (flagged !== undefined && !anyConflict(core, teamId, asked)) return undefined;
  if (deviceId !== undefined && repoKey !== undefined) {
    const streamId = browseRows(core.store).stream.get(deviceId, repoKey, teamId);
    if (streamId === undefined) return undefined;
    if (from === undefined && to === undefined)
      return { order: "seq", parts: 1, go: (...args) => walkStream(core, streamId as number, ...args) };
  }
  const scope = { deviceId, repoKey, from, to };
  return { order: "arrival", parts: 2, go: (...args) => walkArrivals(core, teamId, scope, ...args) };
}

function anyConflict(core: Core, teamId: string, { deviceId, repoKey }: Scope): boolean {
  const sql = browseRows(core.store);
  const [device, repo] = [deviceId ?? null, repoKey ?? null];
  return sql.streamsInConflict.get(teamId, device, device, repo, repo) !== undefined;
}

/** Tells whether an entry is wanted; its device, repository and time are seen to by the walk. */
export function sieve(core: Core, { type, text, flagged }: EntryFilter): (entry: WalkedEntry) => boolean {
  const sql = browseRows(core.store);
  const plain = text?.toLowerCase() ?? "";
  // As the text stands inside a JSON string: quotes and line breaks are escaped there.
  const spelled = JSON.stringify(plain).slice(1, -1);
  return (entry) => {
    if (plain !== "") {
      const payload = entry.payload.toLowerCase();
      if (!payload.includes(plain) && !payload.includes(spelled)) return false;
    }
    if (type !== undefined && understood(entry.payload).type !== type) return false;
    return flagged === undefined || sql.hasConflict.get(entry.streamId, entry.seq) !== undefined;
  };
}

/** An entry with its neighbours in its stream, and what else came under its seq. */
export interface EntryDetail extends EntryRow {
  /** Ids of the entries before and after it in the stream. */
  readonly previousId: number | null;
  readonly nextId: number | null;
  /** The first twenty, oldest first. */
  readonly conflicts: readonly ConflictRow[];
}

const MAX_CONFLICTS = 20;

/** One entry of a team. @returns undefined when the team has no such entry */
export function findEntry(core: Core, teamId: string, id: number): EntryDetail | undefined {
  const sql = browseRows(core.store);
  const found = Number.isSafeInteger(id) ? sql.entry.get(id, teamId) : undefined;
  if (!found) return undefined;
  const { streamId, seq } = found;
  const [row] = describe(core, [{ ...found, key: [id] }]) as [EntryRow];
  return {
    ...row,
    previousId: sql.streamDown.get(streamId, seq, 1)?.id ?? null,
    nextId: sql.streamUp.get(streamId, seq, 1)?.id ?? null,
    conflicts: sql.conflictsUnder
      .all(streamId, seq, MAX_CONFLICTS)
      .map((conflictId) => sql.conflict.get(conflictId as number) as ConflictRow),
  };
}

function understood(payload: string): { type: string | null; sessionId: string | null } {
  const value: unknown = JSON.parse(payload);
  const text = (member: unknown) => (typeof member === "string" ? member : null);
  return isObject(value)
    ? { type: text(value.type), sessionId: text(value.sessionId) }
    : { type: null, sessionId: null };
}

function describe(core: Core, entries: readonly WalkedEntry[]): EntryRow[] {
  const sql = browseRows(core.store);
  const labels = new Map<string, string | null>();
  return entries.map((entry) => {
    const { id, streamId, deviceId, repoKey, seq, receivedAt, clientTimestamp, payload } = entry;
    if (!labels.has(deviceId))
      labels.set(deviceId, (sql.deviceLabel.get(deviceId) as string | null | undefined) ?? null);
    const gap = sql.gapBelow.get(streamId, seq);
    return {
      id,
      streamId,
      deviceId,
      deviceLabel: labels.get(deviceId) ?? null,
      repoKey,
      seq,
      receivedAt,
      clientTimestamp,
      payload,
      ...understood(payload),
      deliveryFlag: entry.flagged,
      conflict: sql.hasConflict.get(streamId, seq) !== undefined,
      ...(gap && gap.to === seq - 1 ? { missingBefore: gap } : {}),
    };
  });
}
