/**
 * What stays of a free-form record where only metadata may be kept: ids, times, types, names of tools and models, counts, paths,
 * lines, commits, branches, exit codes and hashes, each under a name that is known to hold it and only in the form of such a
 * value. Whatever else a record says is left out, so that a member nobody has thought of lets no text through.
 */

import { elements, members, type Slice } from "../kit/json.ts";
import { finish, inSlices, type Slices } from "../kit/slices.ts";
import { hasControls } from "../kit/strings.ts";
import { ATTRIBUTES, COUNT_DETAILS, COUNTS, IDS, INSTANTS, NAMES, NUMBERS, PATHS } from "./metadata-names.ts";
import { readInstant } from "./values.ts";

/** Told of what is left out. */
interface Tally {
  /** Values that were left out and hold text. */
  texts: number;
}

/** Gives the JSON text of what stays of a value, undefined for nothing. It pauses between elements, of which there may be very many. */
type Rule = (text: string, at: Slice, tally: Tally) => Slices<string | undefined>;

const MAX_ID_CHARS = 256;
const MAX_PATH_CHARS = 4_096;
const NOTHING = ['""', "[]", "{}"];

function leftOut(raw: string, tally: Tally): undefined {
  if (/^["[{]/.test(raw) && !NOTHING.includes(raw)) tally.texts++;
}

/** Keeps a plain value that fits, in its own spelling. */
function leaf(fits: (value: unknown) => boolean): Rule {
  // biome-ignore lint/correctness/useYield: one value is no work to pause in
  return function* (text, { start, end }, tally) {
    const raw = text.slice(start, end);
    // No value that may stay is longer, however it is escaped.
    if (raw.length <= 6 * MAX_PATH_CHARS && fits(JSON.parse(raw))) return raw;
    return leftOut(raw, tally);
  };
}

const isNumber = (value: unknown) => value === null || typeof value === "number" || typeof value === "boolean";
const matching =
  (form: RegExp, most = MAX_ID_CHARS) =>
  (value: unknown) =>
    typeof value === "string" && value.length <= most && form.test(value);
const isWord = matching(/^[\w.:/@#+-]+$/);
const isInstant = (value: unknown) => isNumber(value) || matching(/^[\dTtZz :.+-]{8,40}$/)(value);

const number = leaf(isNumber);
/** Integers of 64 bits come as text. */
const count = leaf((value) => isNumber(value) || matching(/^\d{1,20}$/)(value));
const id = leaf((value) => isNumber(value) || isWord(value));
/** One word or two, as OpenTelemetry names spans: `chat gpt-5`. */
const name = leaf((value) => isNumber(value) || matching(/^[\w.:/@#+-]+(?: [\w.:/@#+-]+)?$/, 128)(value));
const branch = leaf(matching(/^[^\s\p{Cc}]+$/u));
const sha = leaf(matching(/^(?:sha\d+[:-])?[0-9a-fA-F]{7,128}$/));
const path = leaf(
  (value) => typeof value === "string" && value.length <= MAX_PATH_CHARS && value.isWellFormed() && !hasControls(value),
);
/** OpenTelemetry's HrTime is a list. */
const instant = leaf((value) => isInstant(value) || (Array.isArray(value) && readInstant(value) !== null));

/** Keeps the named members of an object, and nothing of any other value. */
function object(rules: Readonly<Record<string, Rule>>): Rule {
  const known = new Map(Object.entries(rules));
  return function* (text, { start, end }, tally) {
    if (text[start] !== "{") return leftOut(text.slice(start, end), tally);
    const kept: string[] = [];
    for (const member of members(text, start)) {
      yield;
      const rule = known.get(member.key);
      if (!rule) {
        leftOut(text.slice(member.start, member.end), tally);
        continue;
      }
      const value = yield* rule(text, member, tally);
      if (value !== undefined) kept.push(`${JSON.stringify(member.key)}:${value}`);
    }
    return `{${kept.join(",")}}`;
  };
}

/** Keeps what a rule keeps of each element of a list, and nothing of any other value. */
function list(rule: Rule): Rule {
  return function* (text, { start, end }, tally) {
    if (text[start] !== "[") return leftOut(text.slice(start, end), tally);
    const kept: string[] = [];
    for (const element of elements(text, start)) {
      yield;
      const value = yield* rule(text, element, tally);
      if (value !== undefined) kept.push(value);
    }
    return `[${kept.join(",")}]`;
  };
}

/** Chooses a rule by the value's first character. */
function either(opening: "{" | "[", then: Rule, otherwise: Rule): Rule {
  return (text, at, tally) => (text[at.start] === opening ? then : otherwise)(text, at, tally);
}

const all = (names: readonly string[], rule: Rule) => Object.fromEntries(names.map((one) => [one, rule]));

const COUNTED = { ...all(COUNTS, number), ...all(["id", "requestId", "request_id"], id) };
const details = object(COUNTED);
const usage = object({ ...COUNTED, ...all(COUNT_DETAILS, details) });
const commit = either("{", object({ sha, ...all(INSTANTS, instant) }), sha);
const edit = object({ path, commit: sha, sha, ...all(NUMBERS, number), ...all(INSTANTS, instant) });

/** OpenTelemetry's attributes as an object, or as the list that OTLP/JSON writes. */
const named = object({ ...all(ATTRIBUTES.names, name), ...all(ATTRIBUTES.counts, count), ...all(ATTRIBUTES.ids, id) });
const attributes = either("[", list(wrappedAttribute), named);

/** An element such as `{"key": "gen_ai.usage.input_tokens", "value": {"intValue": "12"}}`. */
function* wrappedAttribute(text: string, at: Slice, tally: Tally): Slices<string | undefined> {
  const raw = text.slice(at.start, at.end);
  const own = members(text, at.start, ["key", "value"]);
  const [key, value] = ["key", "value"].map((one) => own.findLast((member) => member.key === one));
  const called: unknown = key && JSON.parse(text.slice(key.start, key.end));
  if (!key || !value || typeof called !== "string") return leftOut(raw, tally);
  const wrapped = members(text, value.start, ["stringValue", "intValue", "doubleValue", "boolValue"]).at(-1);
  if (!wrapped) return leftOut(raw, tally);
  const spelled = text.slice(wrapped.start, wrapped.end);
  const probe = `{${JSON.stringify(called)}:${spelled}}`;
  const kept = yield* named(probe, { start: 0, end: probe.length }, tally);
  return kept === "{}" ? undefined : `{"key":${JSON.stringify(called)},"value":{"${wrapped.key}":${spelled}}}`;
}

const COMMON = {
  ...all(IDS, id),
  ...all(NAMES, name),
  ...all(INSTANTS, instant),
  ...all(NUMBERS, number),
  ...all(PATHS, path),
  ...all(["branch", "gitBranch"], branch),
  ...all(["sha", "hash", "sha256"], sha),
  commit,
  commits: list(commit),
  files: list(path),
  paths: list(path),
  edits: list(edit),
  usage,
  usageMetadata: usage,
  attributes,
};

/** The rule of each kind of record. */
const METADATA = {
  /** A telemetry entry's payload; of a provider's message what it was billed for. */
  payload: object({
    ...all(COUNTS, number),
    ...COMMON,
    message: object({ ...all(["id", "role", "type", "model", "stop_reason"], name), usage }),
  }),
  /** A session, without its spans; of prompts when they were given and how long they were. */
  session: object({ ...COMMON, prompts: list(object({ ...all(INSTANTS, instant), id, chars: number })) }),
  span: object({
    ...COMMON,
    // The mark of an exported span (exported.ts): without it, the span would count in addition to other reports of the same call.
    via: name,
    context: object({ span_id: id, trace_id: id }),
    parentSpanContext: object({ spanId: id, traceId: id }),
  }),
  label: object({ ...all(IDS, id), ...all(NAMES, name), ...all(INSTANTS, instant), value: name }),
} as const satisfies Readonly<Record<string, Rule>>;

export type MetadataKind = keyof typeof METADATA;

/** What stays of a record, as JSON text, and whether text was left out. */
export interface Kept {
  readonly text: string;
  readonly isPart: boolean;
}

function* keep(text: string, kind: MetadataKind): Slices<Kept> {
  const tally: Tally = { texts: 0 };
  const start = text.search(/\S/);
  const kept = yield* METADATA[kind](text, { start, end: text.length }, tally);
  return { text: kept ?? "{}", isPart: tally.texts > 0 };
}

/**
 * Reduces a record to its metadata. The same record gives the same text.
 * @param text the record as JSON text that `JSON.parse` has accepted
 * @param yieldNow awaited between elements of lists, see `kit/yield.ts`
 */
export const keepMetadata = (
  text: string,
  kind: MetadataKind,
  yieldNow: () => Promise<void> | undefined,
): Promise<Kept> => inSlices(keep(text, kind), yieldNow);

/** The same at once, for records that are known to be small. */
export const metadataOf = (text: string, kind: MetadataKind): string => finish(keep(text, kind)).text;
