import { misleadingSign } from "./escape-invisible.ts";
import { fail, invalid } from "./problem.ts";
import { hasControls } from "./strings.ts";

/**
 * Reads a typed name, without the white space around it.
 * @param whose for the message, e.g. `A team's`
 * @param most UTF-16 units at most
 * @throws Problem for an empty name, a longer one, one of several lines, and one that would change how the text around it reads
 */
export function readName(typed: string, whose: string, most: number): string {
  const name = typed.trim();
  if (name === "" || name.length > most || hasControls(name))
    fail(invalid, `${whose} name has 1 to ${most} characters on one line.`);
  const sign = misleadingSign(name);
  if (sign !== undefined) fail(invalid, `This name holds ${sign}, which cannot be seen or changes how the rest reads.`);
  return name;
}
