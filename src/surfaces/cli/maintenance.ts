import { resolve } from "node:path";
import type { Command } from "commander";
import { giveWay } from "../../kit/priority.ts";
import { fail, unavailable } from "../../kit/problem.ts";
import { counted } from "../../kit/strings.ts";
import { checkStructure, databasePath, openFile } from "../../platform/store/store.ts";
import { backup, examine, makeVerified } from "../../share/maintenance/maintenance.ts";
import { type Cli, type CommonOptions, common, withCoreToLook } from "./context.ts";
import { orNothing } from "./texts.ts";

export function maintenanceCommands(program: Command, cli: Cli): void {
  addBackup(program, cli);
  addDoctor(program, cli);
  addQuickCheck(program);
  addScheduledBackup(program, cli);
}

function addBackup(program: Command, cli: Cli): void {
  common(
    program
      .command("backup")
      .argument("<file>")
      .description("copy database, signing keys and own prices into one file, while the server runs"),
  ).action((file: string, options: CommonOptions) =>
    withCoreToLook(cli, options, async (core, output) => {
      const made = await orNothing(`${resolve(file)}.partial`, () => backup(core, file, output.steps));
      output.result(
        made,
        () => `${made.file} (${made.bytes} bytes, schema ${made.schema}, ${counted(made.keys, "key")})`,
      );
      output.note("It holds the private signing key: keep it as safe as the key itself.");
    }),
  );
}

function addDoctor(program: Command, cli: Cli): void {
  common(program.command("doctor").description("examine a data directory; changes nothing")).action(
    (options: CommonOptions) =>
      withCoreToLook(cli, options, async (core, output) => {
        const findings = await examine(core, output.steps);
        await output.list(findings, {
          json: (one) => one,
          headings: ["CHECK", "STATUS", "DETAIL"],
          cells: (one) => [one.check, one.status, one.detail],
          empty: "",
        });
        if (findings.some((one) => one.status === "failed")) cli.exitCode = 1;
      }),
  );
}

function addScheduledBackup(program: Command, cli: Cli): void {
  // A server starts this as a process of its own, at intervals.
  common(program.command("__backup", { hidden: true }).argument("<file>")).action(
    (file: string, options: CommonOptions) => {
      giveWay();
      // Ends with the server: the pipe to it closes then.
      process.stdin.once("close", () => process.exit(1)).resume();
      return withCoreToLook(cli, options, async (core, output) => {
        const made = await makeVerified(core, file);
        output.result(made, () => String(made.bytes));
      });
    },
  );
}

function addQuickCheck(program: Command): void {
  // A server starts this as a process of its own, for files too large to check before it answers.
  program
    .command("__quick-check", { hidden: true })
    .argument("<directory>")
    .action((directory: string) => {
      const db = openFile(databasePath(directory), { readonly: true });
      const finding = checkStructure(db);
      db.close();
      if (finding) fail(unavailable, finding);
    });
}
