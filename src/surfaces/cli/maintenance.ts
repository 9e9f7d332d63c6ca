import { constants, setPriority } from "node:os";
import type { Command } from "commander";
import { isoInstant, systemClock } from "../../kit/clock.ts";
import { fail, unavailable } from "../../kit/problem.ts";
import { CURRENT_SCHEMA, checkStructure, databasePath, openFile } from "../../platform/store/store.ts";
import { readJournal, resumeErasures } from "../../share/erasure/erasure.ts";
import { backup, examine, inspectBackup, makeVerified, restore } from "../../share/maintenance/maintenance.ts";
import { type Cli, type CommonOptions, common, configOf, outputOf, withCore, withCoreToLook } from "./context.ts";
import { facts, table } from "./output.ts";

export function maintenanceCommands(program: Command, cli: Cli): void {
  addBackup(program, cli);
  addRestore(program, cli);
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
      const made = await backup(core, file, output.progress("backup"));
      output.result(
        made,
        () =>
          `${made.file} (${made.bytes} bytes, schema ${made.schema}, ${made.keys} ${made.keys === 1 ? "key" : "keys"})`,
      );
      output.note("It holds the private signing key: keep it as safe as the key itself.");
    }),
  );
}

function addRestore(program: Command, cli: Cli): void {
  common(
    program.command("restore").argument("<file>").description("put a backup in place; what was there is kept aside"),
  )
    .option("--verify", "only check that the file would restore; change nothing", false)
    .action(async (file: string, options: CommonOptions & { verify: boolean }) => {
      const config = configOf(cli, options);
      const output = outputOf(options);
      if (options.verify) {
        const found = inspectBackup(file);
        output.result({ ...found, wouldRestore: true }, () =>
          [
            facts([
              ["made at", found.madeAt],
              ["schema", found.schema],
              ["keys", found.keys],
              ["own prices", found.ownPrices ? "yes" : "none"],
              ["teams", found.teams],
              ["deliveries", found.deliveries],
            ]),
            "It would restore.",
          ].join("\n"),
        );
        return;
      }
      const done = restore(file, config.data, isoInstant(systemClock.now()).replace(/[:.]/g, "-"));
      const isCurrent = done.schema === CURRENT_SCHEMA.version;
      // What was just put in place durably is not opened without need.
      const isDue = isCurrent && readJournal(config.data).length > 0;
      const erased = isDue ? await withCore(cli, options, (core) => resumeErasures(core)) : [];
      output.result(
        { ...done, erasedAgain: erased.length },
        () => `restored the backup of ${done.madeAt} into ${config.data}`,
      );
      if (done.keptAside) output.note(`What was there is kept in ${done.keptAside}.`);
      if (erased.length > 0) output.note(`${erased.length} erasures that the backup did not know of were made again.`);
      if (!isCurrent) output.note("What was erased since it was made is erased again when the server starts.");
      if (done.pricesStay) output.note("The backup has no prices.json: the one that is there stays.");
    });
}

function addDoctor(program: Command, cli: Cli): void {
  common(program.command("doctor").description("examine a data directory; changes nothing")).action(
    (options: CommonOptions) =>
      withCoreToLook(cli, options, async (core, output) => {
        const findings = await examine(core, output.progress("ledger"));
        output.result(findings, () =>
          table(
            ["CHECK", "STATUS", "DETAIL"],
            findings.map((one) => [one.check, one.status, one.detail]),
            "",
          ),
        );
        if (findings.some((one) => one.status === "failed")) cli.exitCode = 1;
      }),
  );
}

function addScheduledBackup(program: Command, cli: Cli): void {
  // Started by a server beside itself, at its intervals.
  common(program.command("__backup", { hidden: true }).argument("<file>")).action(
    (file: string, options: CommonOptions) => {
      setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
      // A server that is gone wants none: the pipe ends with it.
      process.stdin.once("close", () => process.exit(1)).resume();
      return withCoreToLook(cli, options, async (core, output) => {
        const made = await makeVerified(core, file);
        output.result(made, () => String(made.bytes));
      });
    },
  );
}

function addQuickCheck(program: Command): void {
  // Started by a server beside itself, for files too large to check before it answers.
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
