import { asObject, parseJson } from "../formats/values.ts";
import { sameDigest, sha256 } from "../kit/hash.ts";
import type { DeliveryRow } from "./rows.ts";

/** The facts that the leaf of a delivery states. The content is stated by the root over its items alone. */
export type LeafFacts = Omit<
  DeliveryRow,
  "id" | "mode" | "repoKey" | "itemKey" | "itemSalts" | "chainSha256" | "erasedBy" | "erasedItems" | "movedFrom"
>;

/** What the leaf of a moved delivery was made of in the log that it came from, where that differs from here. */
type MovedFrom =
  /** Its stream's number there, and the delivery before it. */
  | { readonly id: number; readonly stream: number | null; readonly previous: number | null }
  /** For a chained delivery: its number there, and the hash that it was chained to, in hexadecimal digits. */
  | { readonly id: number; readonly chain: string };

/** Reads `movedFrom`. @returns undefined for a delivery that came here first, null when the column was altered */
function movedFrom({ movedFrom: text }: DeliveryRow): MovedFrom | undefined | null {
  if (text === null) return undefined;
  const moved = asObject(parseJson(text));
  return "stream" in moved || typeof moved.chain === "string" ? (moved as unknown as MovedFrom) : null;
}

/** The text of a delivery's leaf: JSON, its members in this order. Teams, devices and streams are named by their ids. */
export function leafText(facts: LeafFacts): string {
  return JSON.stringify({
    v: 2,
    kind: facts.kind,
    team: facts.teamId,
    device: facts.deviceId,
    stream: facts.streamId,
    previous: facts.previous,
    at: facts.receivedAt,
    count: facts.items,
    redacted: facts.redacted,
    flagged: facts.flagged,
    captureMode: facts.captureMode,
    withheld: facts.withheld,
    itemCount: facts.itemCount,
    items: facts.contentSha256.toString("hex"),
    sent: facts.sentSha256?.toString("hex") ?? null,
  });
}

/** The leaf of a delivery that was chained before there was a tree. Migration 13 makes the same. */
const chainedLeafText = (chainSha256: Buffer): string => JSON.stringify({ v: 1, chain: chainSha256.toString("hex") });

/** The text of a delivery's leaf, whichever it is. */
export function leafTextOf(row: DeliveryRow): string {
  if (row.chainSha256) return chainedLeafText(row.chainSha256);
  const moved = movedFrom(row);
  // No leaf has an empty text, so an altered row matches none.
  if (moved === null) return "";
  if (!moved || !("stream" in moved)) return leafText(row);
  return leafText({ ...row, streamId: moved.stream, previous: moved.previous });
}

/** The hash before the first chained delivery. */
export const GENESIS = Buffer.alloc(32);

/** Whether a chained delivery is unaltered. @param previous the hash before it in this log @param expected its number in this log */
export function isChained(row: DeliveryRow, previous: Buffer, expected: number): boolean {
  const moved = movedFrom(row);
  if (moved === null) return false;
  const [before, id] =
    moved && "chain" in moved
      ? [Buffer.from(String(moved.chain), "hex"), moved.id]
      : [previous, row.id === expected ? expected : 0];
  return row.chainSha256 !== null && sameDigest(chain(before, { ...row, id }), row.chainSha256);
}

/** The digest of a row that was chained and everything before it. */
function chain(previous: Buffer, row: Omit<DeliveryRow, "chainSha256">): Buffer {
  const facts = [
    row.id,
    row.teamId,
    row.deviceId,
    row.kind,
    row.repoKey,
    row.mode,
    row.receivedAt,
    row.items,
    row.redacted,
    row.flagged,
    // Rows from before these two were stored have none, and keep their digest.
    ...(row.captureMode === null ? [] : [row.captureMode, row.withheld]),
  ];
  return sha256(Buffer.concat([previous, row.contentSha256, Buffer.from(JSON.stringify(facts))]));
}
