import { isSea } from "node:sea";

/** How to start this program again with other arguments: the executable itself, or Node with our entry file. */
export function helperCommand(
  command: string,
  args: readonly string[],
): { readonly file: string; readonly args: string[] } {
  const entry = isSea() ? [] : [process.argv[1] as string];
  return { file: process.execPath, args: [...entry, command, ...args] };
}

/** What a program that this one starts finds in its environment: what this one does, and more; without what is undefined. */
export const environmentWith = (
  more: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> => ({
  ...process.env,
  ...more,
});
