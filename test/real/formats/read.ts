/** Reading what others wrote: every function takes anything and answers with what it understood. */

export type Fields = Readonly<Record<string, unknown>>;

/** The value of a JSON text, or undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object's members; none for anything else. */
export function asRecord(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** The objects of an array; none for anything else. */
export function asRecords(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** A text that is not empty. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function asCount(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** An instant that the service's date-time takes as well. */
export function asInstant(value: unknown): string | undefined {
  return typeof value === "string" &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(value) &&
    !Number.isNaN(Date.parse(value))
    ? value
    : undefined;
}

/** The records of a JSON-lines file: every line that is not empty. */
export function lines(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}
