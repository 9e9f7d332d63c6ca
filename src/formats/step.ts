import { isObject } from "../kit/json.ts";
import { asObject, asObjects, type Fields, firstOf, parseJson, readText } from "./values.ts";

/** Input, output and failure of a session's step, in the names that agents and tracing tools use. */

/** How a step failed. */
export interface Failure {
  /** In a word or two: `exit 1`, `timeout`, `failed`. */
  readonly label: string;
  /** What was said about it apart from the step's output; null where nothing was. */
  readonly message: string | null;
}

const EXIT_CODES = ["process.exit.code", "exit_code", "exitCode"];
const FLAGS = ["is_error", "isError"];
const ERROR_WORDS = new Set(["error", "failed", "failure", "status_code_error"]);
/** OTLP's `STATUS_CODE_ERROR`. */
const ERROR_CODE = 2;

/**
 * Whether a step failed: by its exit code, by what names its error (`error.type`, `error`), by its status (OpenTelemetry's, or a
 * word), or by a flag (`is_error`) of the step, its attributes or its output.
 * @param span as it was sent
 * @param attributes its attributes, read
 */
export function failureOf(span: Fields, attributes: Fields): Failure | null {
  const label =
    exitLabel(firstOf(attributes, EXIT_CODES, exitCode) ?? firstOf(span, EXIT_CODES, exitCode)) ??
    errorType(attributes["error.type"]) ??
    errorLabel(span.error) ??
    errorLabel(attributes.error) ??
    (isErrorStatus(span, attributes) || isFlagged(span, attributes) ? "failed" : undefined);
  return label === undefined ? null : { label, message: messageOf(span, attributes) };
}

function exitCode(value: unknown): number | undefined {
  const code = typeof value === "string" && /^-?\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof code === "number" && Number.isInteger(code) ? code : undefined;
}

const exitLabel = (code: number | null) => (code === null || code === 0 ? undefined : `exit ${code}`);

function errorType(value: unknown): string | undefined {
  const type = readText(value);
  return type === "tool_error" || type === "_OTHER" ? "failed" : type;
}

/** Of `error: true`, a text, or an object with a type. */
function errorLabel(error: unknown): string | undefined {
  if (isObject(error)) return errorType(asObject(error).type) ?? "failed";
  return error === true || (typeof error === "string" && error !== "" && error !== "false") ? "failed" : undefined;
}

function isErrorStatus({ status, level, kind }: Fields, attributes: Fields): boolean {
  const code = isObject(status) ? asObject(status).code : (status ?? attributes["otel.status_code"]);
  const says = (value: unknown) => typeof value === "string" && ERROR_WORDS.has(value.toLowerCase());
  return code === ERROR_CODE || [code, level, kind].some(says);
}

function isFlagged(span: Fields, attributes: Fields): boolean {
  const flagged = (fields: Fields) =>
    fields.success === false || FLAGS.some((name) => fields[name] === true || fields[name] === "true");
  return flagged(span) || flagged(attributes) || flagged(asObject(outputOf(span, attributes)));
}

function messageOf(span: Fields, attributes: Fields): string | null {
  const { status, error, statusMessage } = span;
  const exception = asObjects(span.events).find(({ name }) => name === "exception");
  const thrown = asObject(exception?.attributes);
  return (
    [
      asObject(status).message,
      asObject(error).message,
      error,
      attributes["error.message"],
      attributes["exception.stacktrace"] ?? attributes["exception.message"],
      thrown["exception.stacktrace"] ?? thrown["exception.message"],
      statusMessage,
    ]
      .map(readText)
      .find((text) => text !== undefined) ?? null
  );
}

const INPUTS = ["gen_ai.tool.call.arguments", "input.value", "input", "gen_ai.input.messages", "gen_ai.prompt"];
const OUTPUTS = [
  ...["gen_ai.tool.call.result", "output.value", "output", "gen_ai.output.messages", "gen_ai.completion"],
];
const known = (value: unknown) => (value === undefined || value === null || value === "" ? undefined : { value });

/** A step's input: text or any JSON; undefined when not sent. */
export const inputOf = (span: Fields, attributes: Fields): unknown =>
  (firstOf(attributes, INPUTS, known) ?? firstOf(span, ["input", "arguments"], known))?.value;

/** A step's output: text or any JSON; undefined when not sent. */
export const outputOf = (span: Fields, attributes: Fields): unknown =>
  (firstOf(attributes, OUTPUTS, known) ?? firstOf(span, ["output", "result"], known))?.value;

/**
 * The words of a model in the text or the messages that a call returned (OpenTelemetry's `gen_ai.output.messages`, Chat Completions,
 * Anthropic's content blocks); empty when there are none.
 */
export function answerText(output: unknown): string {
  const value = typeof output === "string" && /^\s*[[{]/.test(output) ? parseJson(output) : undefined;
  if (typeof output === "string" && !isMessages(value)) return output.trim();
  return wordsOf(value ?? output)
    .join("\n\n")
    .trim();
}

const isMessages = (value: unknown): boolean =>
  (Array.isArray(value) ? value : [value]).some(
    (one) => isObject(one) && ("parts" in one || "content" in one || "message" in one),
  );

/** Messages hold parts, which hold text: deeper is nothing that a model said. */
const MAX_DEPTH = 6;

/** Parts of messages that are no words of the model: bytes, thinking, and inputs and results of tools. */
const UNSAID = /^(?:blob|reasoning|compaction|(?:server_)?tool.*)$/;

function wordsOf(value: unknown, depth = 0): string[] {
  if (typeof value === "string") return value === "" ? [] : [value];
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.slice(0, 1_000).flatMap((one) => wordsOf(one, depth + 1));
  const { type, parts, content, text, message, choices } = asObject(value);
  if (typeof type === "string" && UNSAID.test(type)) return [];
  const within = [text, content, parts, message, choices].find((one) => one !== undefined && one !== null);
  return within === undefined ? [] : wordsOf(within, depth + 1);
}
