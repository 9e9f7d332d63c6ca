import * as v from "valibot";
import type { Slice } from "../../kit/json.ts";
import { JsonScanner } from "../../kit/json-scanner.ts";
import { DateTime, identifier, RepoKey } from "../../platform/http/fields.ts";

/** The name of what the client was doing; of its own choice. */
export const Mode = identifier(100);

/** An entry whose payload was not parsed. */
export interface SkimmedEntry {
  readonly seq: number;
  readonly clientTimestamp: string | undefined;
  /** Where in the body's text. */
  readonly payload: Slice;
}

/** A batch whose payloads were not parsed. */
export interface SkimmedBatch {
  readonly isSkimmed: true;
  readonly mode: string | undefined;
  readonly repoKey: string | undefined;
  readonly entries: readonly SkimmedEntry[];
}

/** Arrays and objects that an entry's payload stands in. */
const AROUND_PAYLOAD = 3;

type Draft<T> = { -readonly [name in keyof T]?: T[name] | undefined };

/**
 * Reads a batch as clients send it, in a quarter of the time that parsing and validating all of it takes.
 * @param maxDepth as for any body
 * @returns undefined for whatever is not quite usual, which may be in order all the same
 */
export function skimBatch(text: string, maxDepth: number): SkimmedBatch | undefined {
  const json = JsonScanner.over(text, maxDepth);
  if (!json) return undefined;
  const batch: Draft<Pick<SkimmedBatch, "mode" | "repoKey">> & { entries?: SkimmedEntry[] } = {};
  const isBatch = json.object((name) => {
    // What stands twice, and what no client sends, is for others to judge.
    if (name in batch) return false;
    if (name === "entries") {
      batch.entries = [];
      return readEntries(json, batch.entries);
    }
    if (name !== "mode" && name !== "repoKey") return false;
    batch[name] = json.plainString();
    return v.is(name === "mode" ? Mode : RepoKey, batch[name]);
  });
  const { mode, repoKey, entries } = batch;
  return isBatch && json.ends() && entries ? { isSkimmed: true, mode, repoKey, entries } : undefined;
}

function readEntries(json: JsonScanner, entries: SkimmedEntry[]): boolean {
  return json.array(() => {
    const entry: Draft<SkimmedEntry> = { seq: undefined, clientTimestamp: undefined, payload: undefined };
    const isEntry = json.object((name) => readMember(json, name, entry));
    const { seq, clientTimestamp, payload } = entry;
    if (!isEntry || seq === undefined || !payload) return false;
    entries.push({ seq, clientTimestamp, payload });
    return true;
  });
}

function readMember(json: JsonScanner, name: string, entry: Draft<SkimmedEntry>): boolean {
  if (name === "seq" && entry.seq === undefined) {
    entry.seq = json.count();
    return entry.seq !== undefined;
  }
  if (name === "payload" && !entry.payload) {
    entry.payload = json.skipObject(AROUND_PAYLOAD);
    return entry.payload !== undefined;
  }
  if (name !== "clientTimestamp" || entry.clientTimestamp !== undefined) return false;
  entry.clientTimestamp = json.plainString();
  return v.is(DateTime, entry.clientTimestamp);
}
