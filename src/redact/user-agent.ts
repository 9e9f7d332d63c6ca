import { redactText } from "./scan.ts";

const MOST_CHARS = 200;

/** What a `User-Agent` header is kept as: without control characters and secrets, at most 200 characters; null for none. */
export function readUserAgent(header: string | null): string | null {
  if (header === null) return null;
  const printable = header
    .toWellFormed()
    .replace(/\p{Cc}+/gu, " ")
    .trim();
  return redactText(printable).text.slice(0, MOST_CHARS).toWellFormed() || null;
}
