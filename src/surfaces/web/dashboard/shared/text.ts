import { beginning } from "../../../../kit/strings.ts";

/** Texts that agents sent, for where room is short. */

/** The beginning of a text. */
export function short(text: string, chars: number): string {
  return text.length <= chars ? text : `${beginning(text, chars - 1).toWellFormed()}…`;
}

/** What to look for: when somebody pastes the address of a commit at a forge, its hash alone. */
export const soughtIn = (typed: string): string => /\/commits?\/([0-9a-f]{7,64})\b/i.exec(typed)?.[1] ?? typed;

/** A commit as people write it; agents may send any text for one. */
export const shaText = (sha: string) => (/^[0-9a-f]{12,64}$/i.test(sha) ? sha.slice(0, 12) : short(sha, 40));
