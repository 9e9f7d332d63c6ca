import type { Core } from "../../core.ts";
import { asObject, readInstant } from "../../formats/values.ts";
import type { Intake } from "../intake/intake.ts";
import type { ReadyBatch } from "./prepare.ts";
import { pieces } from "./read-pieces.ts";
import { type ExportedWork, rows } from "./rows.ts";
import { spell, spelledMembers } from "./rules.ts";
import { stepsOf } from "./steps.ts";
import { type Merge, storePart } from "./store-batch.ts";

/**
 * Pieces: sessions from those who tell what happens and keep nothing, so that each piece says less than what is stored. Pieces are merged
 * into that: what is not told anew stays, lists grow, and times widen.
 */

/** As many prompts and commits as the capture client sends of a session, and as much text. */
const MAX_ELEMENTS = 2_000;
const MAX_LIST_CHARS = 2 * 1024 * 1024;

const OUTCOMES = ["failed", "abandoned", "completed", "committed"];
const FAILED = 0;

/** Stores a batch of pieces. */
async function deliver(intake: Intake, { parts }: ReadyBatch): Promise<void> {
  for (const part of parts)
    for (const step of await stepsOf(intake.core, intake.device, part))
      await intake.store((now) => storePart(intake, step, now, IN_PIECES));
}

/** Of some sessions of a device those that were only exported (OTLP) and have agents or model calls. */
const workOf = (core: Core, deviceId: string, externalIds: readonly string[]): ExportedWork[] =>
  rows(core.store).exportedWork.all({ deviceId, sent: JSON.stringify(externalIds) });

/** How pieces are made ready, in whatever thread, and stored. */
export const sessionPieces = { ...pieces, deliver, workOf };

/** Members of which the first value stays. */
const FIRST = new Set(["agent", "model", "title", "userEmail"]);

const IN_PIECES: Merge = {
  exported: 1,
  session(stored, sent) {
    // The capture client sends these as a whole, and of the same turns. Its sessions always name the files.
    const isCaptured = stored.has("files");
    const grown = new Map(stored);
    for (const [name, raw] of sent) {
      const old = stored.get(name);
      if (old === undefined) grown.set(name, raw);
      else if (name === "prompts" || name === "commits") grown.set(name, isCaptured ? old : union(old, raw));
      else if (name === "startedAt" || name === "endedAt") grown.set(name, wider(name, old, raw));
      else if (name === "outcome") grown.set(name, further(old, raw, isLater(stored, sent)));
      else if (!FIRST.has(name)) grown.set(name, raw);
    }
    return grown;
  },
  span(stored, sent) {
    const grown = spelledMembers(stored);
    for (const [name, raw] of spelledMembers(sent)) {
      const old = grown.get(name);
      if (old === undefined) grown.set(name, raw);
      else if (name === "attributes" || name === "usage") grown.set(name, laidOver(old, raw));
      else if (name === "startedAt" || name === "endedAt") grown.set(name, wider(name, old, raw));
      else grown.set(name, raw);
    }
    return spell(grown);
  },
};

function laidOver(old: string, raw: string): string {
  if (!old.startsWith("{") || !raw.startsWith("{")) return raw;
  return spell(new Map([...spelledMembers(old), ...spelledMembers(raw)]));
}

/** The elements of both lists, those of the first once. */
function union(old: string, raw: string): string {
  const [had, has] = [listOf(old), listOf(raw)];
  const known = new Set(had.map(nameOf));
  const more = has.filter((one) => !known.has(nameOf(one)));
  if (more.length === 0 || had.length + more.length > MAX_ELEMENTS || old.length + raw.length > MAX_LIST_CHARS)
    return old;
  return JSON.stringify([...had, ...more]);
}

/** Identifies an element: a prompt with an id is the same whenever it is told. */
function nameOf(one: unknown): string {
  const { id, at, spanId, ...said } = asObject(one);
  return JSON.stringify(id === undefined ? one : [id, said]);
}

const listOf = (raw: string): unknown[] => {
  const value: unknown = JSON.parse(raw);
  return Array.isArray(value) ? value : [];
};

function wider(name: "startedAt" | "endedAt", old: string, raw: string): string {
  const [before, after] = [old, raw].map((one) => readInstant(asObject(JSON.parse(`{"at":${one}}`)).at));
  if (before === null || before === undefined) return raw;
  if (after === null || after === undefined) return old;
  return (name === "startedAt" ? after < before : after > before) ? raw : old;
}

/** Whether what is told now ended no sooner than all that was told before. */
function isLater(stored: ReadonlyMap<string, string>, sent: ReadonlyMap<string, string>): boolean {
  const [old, raw] = [stored.get("endedAt"), sent.get("endedAt")];
  return old === undefined || raw === undefined || old === raw || wider("endedAt", old, raw) === raw;
}

/** How a session went, as far as it is known: an outcome that somebody else said stays. One that failed may go on. */
function further(old: string, raw: string, isLast: boolean): string {
  const [had, has] = [old, raw].map((one) => OUTCOMES.indexOf(JSON.parse(one))) as [number, number];
  if (had < 0 || has < 0) return old;
  return (had === FAILED || has === FAILED ? isLast : has > had) ? raw : old;
}
