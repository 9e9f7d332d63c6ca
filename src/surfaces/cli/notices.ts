import type { Command } from "commander";
import { readAsset } from "../../kit/assets.ts";
import { fail, notFound } from "../../kit/problem.ts";
import { type Cli, type CommonOptions, common, outputAt } from "./context.ts";

/** The file that the build puts beside the code. From a checkout the packages themselves are read. */
const NOTICES = "THIRD-PARTY-NOTICES.txt";

export function noticesCommand(program: Command, cli: Cli): void {
  common(program.command("notices"))
    .description("print the licences of the software that the executable is made of")
    .action((options: CommonOptions) => {
      const notices = readNotices();
      outputAt(cli, options).result({ notices }, () => notices);
    });
}

function readNotices(): string {
  try {
    return readAsset(NOTICES);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    fail(notFound, "the notices are part of the executable; here each package in node_modules has its own");
  }
}
