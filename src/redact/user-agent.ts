import { redactText } from "./scan.ts";

const MAX_CHARS = 200;

/** A `User-Agent` header in the form that is stored: without control characters and secrets, at most 200 characters; null for none. */
export function readUserAgent(header: string | null): string | null {
  if (header === null) return null;
  const printable = header
    .toWellFormed()
    .replace(/\p{Cc}+/gu, " ")
    .trim();
  return redactText(printable).text.slice(0, MAX_CHARS).toWellFormed() || null;
}
