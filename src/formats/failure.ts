import { readAttributes } from "./usage.ts";
import { asObject, type Fields } from "./values.ts";

/** Words of a span's document one of which it holds where it says that its step failed: most documents need not be parsed then. */
export const FAILURE_SIGNS: readonly string[] = ["rror", "ERROR", "xit", "ailed", "success", '"code"'];

const FAILED_WORDS = new Set(["error", "failed", "failure", "status_code_error"]);
const isFailedWord = (value: unknown) => typeof value === "string" && FAILED_WORDS.has(value.toLowerCase());

/** Of a process that ended by itself or by a signal; 64-bit integers come as text. */
const isBadExit = (value: unknown) => /^-?[1-9]\d{0,9}$/.test(String(value ?? ""));

/**
 * Whether a span says that its step failed: by its status (a word, or OpenTelemetry's code 2), an error, `isError`, an exit code
 * other than 0, or OpenTelemetry's `error.type`.
 */
export function hasFailed(span: Fields): boolean {
  const { status, error, level, success } = span;
  const attributes = readAttributes(span.attributes);
  const { code } = asObject(status);
  if (isFailedWord(status) || isFailedWord(code) || code === 2 || isFailedWord(level) || success === false) return true;
  if (error === true || (typeof error === "string" && error !== "") || Object.keys(asObject(error)).length > 0)
    return true;
  return [span, attributes].some(
    (said) =>
      said.isError === true ||
      said.is_error === true ||
      isBadExit(said.exitCode) ||
      isBadExit(said.exit_code) ||
      isBadExit(said["process.exit.code"]) ||
      (typeof said["error.type"] === "string" && said["error.type"] !== ""),
  );
}
