import { fail, invalid } from "../../kit/problem.ts";
import { hasControls } from "../../kit/strings.ts";

const MAX_URL_CHARS = 500;

/** Reads where an error is tracked, as somebody typed it. @throws Problem for all but the plain HTTPS address of a page */
export function readTracker(typed: string): string {
  const text = typed.trim();
  const url = text.length <= MAX_URL_CHARS && !hasControls(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" || url.username !== "" || url.password !== "" || url.href.length > MAX_URL_CHARS)
    fail(invalid, `A tracker's address begins with https:// and has at most ${MAX_URL_CHARS} characters.`);
  return url.href;
}
