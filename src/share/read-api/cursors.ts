import { sha256Hex } from "../../kit/hash.ts";
import { fail, malformed } from "../../kit/problem.ts";
import { compareText } from "../../kit/strings.ts";

/**
 * Cursors of the read API: where the next page begins, bound to the query that it belongs to. A cursor of another query would
 * silently begin in the wrong place, so it is refused.
 */

const CHECK_CHARS = 12;

/** What a cursor belongs to: the operation, the team, and all that narrows. */
export interface CursorOf {
  readonly operation: string;
  readonly teamId: string;
  readonly filters: Readonly<Record<string, unknown>>;
}

function checkOf({ operation, teamId, filters }: CursorOf, place: string): string {
  const narrowed = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => compareText(a, b));
  return sha256Hex(JSON.stringify([operation, teamId, narrowed, place])).slice(0, CHECK_CHARS);
}

/** Spells where the next page of a query begins. @param place as the list itself spells it */
export const sealCursor = (of: CursorOf, place: string): string =>
  Buffer.from(checkOf(of, place) + place).toString("base64url");

/**
 * Reads a cursor that came back.
 * @returns the place as the list spelled it
 * @throws Problem malformed (400) for anything that was not made for this query
 */
export function openCursor(of: CursorOf, cursor: string): string {
  const text = Buffer.from(cursor, "base64url").toString("utf8");
  const place = text.slice(CHECK_CHARS);
  if (text.slice(0, CHECK_CHARS) !== checkOf(of, place))
    fail(malformed, "The cursor is not one of this query: leave it out to begin anew.");
  return place;
}
