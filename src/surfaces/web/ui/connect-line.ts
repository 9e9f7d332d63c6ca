import { isLoopback } from "../../../kit/reach.ts";
import { shellWord } from "../../../kit/strings.ts";
/** What stands in the place of a connect code that is not at hand. */
export const CODE_PLACE = "THE-CODE";

/** The line that connects a machine, as it works when pasted into a POSIX shell there. */
export function connectLine(baseUrl: string, code = CODE_PLACE): string {
  const { protocol, hostname } = new URL(baseUrl);
  const isOpen = protocol === "http:" && !isLoopback(hostname);
  return `reckon agent connect ${shellWord(baseUrl)} ${code}${isOpen ? " --insecure" : ""}`;
}
