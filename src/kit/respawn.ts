import { isSea } from "node:sea";

/** How to start this program again with other arguments: the executable itself, or Node with our entry file. */
export function helperCommand(
  command: string,
  args: readonly string[],
): { readonly file: string; readonly args: string[] } {
  const entry = isSea() ? [] : [process.argv[1] as string];
  return { file: process.execPath, args: [...entry, command, ...args] };
}

/** The environment of a child process: this one's with `more`. A variable that `more` has as undefined is left out. */
export const environmentWith = (
  more: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> => ({
  ...process.env,
  ...more,
});
