import type { Command } from "commander";
import { readTextFile } from "../../kit/bounded-text.ts";
import { instantOrNull, isoInstant, systemClock } from "../../kit/clock.ts";
import { processLog } from "../../kit/log.ts";
import { systemRandom } from "../../kit/random.ts";
import { counted } from "../../kit/strings.ts";
import { CURRENT_SCHEMA } from "../../platform/store/store.ts";
import { readJournal, resumeErasures } from "../../share/erasure/erasure.ts";
import {
  type BackupFacts,
  type CopyFacts,
  inspectBackup,
  inspectCopy,
  type Lost,
  type RestoredCopy,
  restore,
  restoreCopy,
} from "../../share/maintenance/maintenance.ts";
import { type Cli, type CommonOptions, common, configOf, outputAt, readSecret, withCore } from "./context.ts";
import { facts, type Output } from "./output.ts";

interface RestoreOptions extends CommonOptions {
  readonly verify: boolean;
  readonly from?: string;
  readonly key: readonly string[];
  readonly passphraseStdin: boolean;
  readonly newLedgerKey: boolean;
}

const MAX_KEY_BYTES = 16 * 1024;

export function restoreCommand(program: Command, cli: Cli): void {
  common(
    program
      .command("restore")
      .argument("[file]", "what reckon backup made")
      .description("put a backup or a replica in place; what was there is kept aside"),
  )
    .option("--verify", "only check that the file would restore, and its ledger; change nothing", false)
    .option("--from <database>", "a database that Litestream restored, or another sound copy, instead of a backup")
    .option(
      "--key <file>",
      "with --from: signing-key.pem or ledger-key.pem, where they are not in the directory; may be given twice",
      (file: string, before: readonly string[]) => [...before, file],
      [],
    )
    .option(
      "--passphrase-stdin",
      "with --from: read the passphrase of the keys that key wrap put into the database",
      false,
    )
    .option("--new-ledger-key", "with --from: go on with another key of the ledger", false)
    .action(async (file: string | undefined, options: RestoreOptions, command: Command) => {
      const { from, verify } = options;
      if ((file === undefined) === (from === undefined))
        command.error("error: name a file that reckon backup made, or a database with --from");
      if (from !== undefined) await (verify ? verifyCopy(cli, options, from) : putCopy(cli, options, from));
      else if (verify) await verifyBackup(cli, options, file as string);
      else await putBackup(cli, options, file as string);
    });
}

/** @returns what commands need to look at databases, whether or not there is a database yet */
export function partsOf(cli: Cli, options: CommonOptions) {
  const config = configOf(cli, options);
  return { config, clock: systemClock, random: systemRandom, log: processLog("warn", systemClock.now) };
}

const stampOf = (now: number) => isoInstant(now).replace(/[:.]/g, "-");

async function verifyBackup(cli: Cli, options: CommonOptions, file: string): Promise<void> {
  const output = outputAt(cli, options);
  const found: BackupFacts = inspectBackup(file, output.steps);
  const { head } = await inspectCopy(partsOf(cli, options), file, output.steps, true);
  output.result({ ...found, ...headJson(head), wouldRestore: true }, () =>
    [
      facts([
        ["made at", found.madeAt],
        ["schema", found.schema],
        ["keys", found.keys],
        ["own prices", found.ownPrices ? "yes" : "none"],
        ["teams", found.teams],
        ["deliveries", found.deliveries],
        ["ledger", headText(head)],
      ]),
      "It would restore.",
    ].join("\n"),
  );
}

const OPEN_AGAIN =
  "Whatever was revoked, closed or changed since is as it was then: devices, tokens, accounts, passwords, sign-ins, retention. Close again what must not be open.";

const ERASED_LATER =
  "What was erased since it was made is erased again when the server starts, but not in the backup that the upgrade puts aside then " +
  "(backups/before-schema-…): delete that one once you will not go back.";

/** What has to be closed, held or erased again by hand after a restore, as far as it is known. */
const openAgain = ({ schema, servedAgain, holdsGone, keysGone, lake }: Lost & Pick<RestoredCopy, "schema">) =>
  [
    ...(schema === CURRENT_SCHEMA.version ? [] : [ERASED_LATER]),
    OPEN_AGAIN,
    ...keysGone.map(
      (kid) =>
        `The key ${kid} is gone, which signed since "reckon key rotate": licences of that time verify with its public half alone. Rotate anew where others may have the one before.`,
    ),
    ...servedAgain.map(
      ({ name, movedTo }) =>
        `The team "${name}" moved to ${movedTo} since, and would be served here again: say "reckon team move" anew before the server starts.`,
    ),
    ...holdsGone.map(
      ({ id, kind, teamId, deviceId, session, reason }) =>
        `The hold ${id} of the ${kind} ${session ?? deviceId ?? teamId} (${reason}) was placed since and is gone: say "reckon hold place" anew before the server starts, or what it kept runs out.`,
    ),
    ...(lake === null
      ? []
      : [`The lake ${lake} may hold what came since: say "reckon lake check --repair" once the server runs.`]),
  ].join("\n");

async function putBackup(cli: Cli, options: CommonOptions, file: string): Promise<void> {
  const config = configOf(cli, options);
  const output = outputAt(cli, options);
  const done = restore(file, config.data, stampOf(systemClock.now()), output.steps);
  const erasedAgain = await eraseAgain(cli, options, output, done.schema);
  output.result({ ...done, erasedAgain }, () => `restored the backup of ${done.madeAt} into ${config.data}`);
  noteDone(output, done.keptAside, erasedAgain);
  output.note(openAgain(done));
  if (done.pricesStay) output.note("The backup has no prices.json: the one that is there stays.");
}

function noteDone(output: Output, keptAside: string | null, erasedAgain: number): void {
  if (keptAside) output.note(`What was there is kept in ${keptAside}.`);
  if (erasedAgain > 0) output.note(`Made again: ${counted(erasedAgain, "erasure")} that it did not know of.`);
}

/** @returns how many erasures were made again because the restored database did not have them */
async function eraseAgain(cli: Cli, options: CommonOptions, output: Output, schema: number): Promise<number> {
  // A database that was just restored is not opened without need.
  const isDue = schema === CURRENT_SCHEMA.version && readJournal(configOf(cli, options).data).length > 0;
  if (isDue) output.steps("erasing again what was erased since");
  return isDue ? (await withCore(cli, options, (core) => resumeErasures(core))).length : 0;
}

/** Facts of a copy as JSON has them. */
export const copyJson = ({ newestAt, head, ...found }: CopyFacts) => ({
  ...found,
  newestAt: instantOrNull(newestAt),
  ...headJson(head),
});

const headJson = (head: CopyFacts["head"]) => ({ leaves: head?.id ?? 0, root: head?.chainSha256 ?? null });
const headText = (head: CopyFacts["head"]) => (head ? `verifies; ${head.id}:${head.chainSha256}` : "empty");

/** The same for people. */
export const copyFacts = ({ schema, teams, deliveries, newestAt, head }: CopyFacts): [string, string | number][] => [
  ["schema", schema],
  ["teams", teams],
  ["deliveries", deliveries],
  ["newest", instantOrNull(newestAt) ?? "none"],
  ["ledger", headText(head)],
];

async function verifyCopy(cli: Cli, options: RestoreOptions, file: string): Promise<void> {
  const output = outputAt(cli, options);
  const found = await inspectCopy(partsOf(cli, options), file, output.steps);
  output.result({ ...copyJson(found), wouldRestore: true }, () =>
    [facts(copyFacts(found)), "It would restore, with its keys."].join("\n"),
  );
}

const SENT_AGAIN = "Devices send again what they keep, for 7 days.";

function lostText(lostLeaves: RestoredCopy["lostLeaves"]): string {
  if (lostLeaves === null)
    return `What came after the newest delivery is not in it; nothing here tells how much that was. ${SENT_AGAIN}`;
  if (lostLeaves === 0) return "All leaves known here are in it.";
  return `Not in it: ${counted(lostLeaves, "leaf that was", "leaves that were")} here, and what came after. ${SENT_AGAIN}`;
}

async function putCopy(cli: Cli, options: RestoreOptions, file: string): Promise<void> {
  const output = outputAt(cli, options);
  const parts = partsOf(cli, options);
  const passphrase = options.passphraseStdin
    ? await readSecret(cli, "passphrase", "restore --from FILE --passphrase-stdin")
    : undefined;
  const pems = options.key.map((path) => readTextFile(path, MAX_KEY_BYTES));
  const given = { pems, passphrase, newLedgerKey: options.newLedgerKey };
  const done = await restoreCopy(parts, file, given, output.steps, stampOf(systemClock.now()));
  const { keptAside, lostLeaves, servedAgain, holdsGone, keysGone, lake } = done;
  const erasedAgain = await eraseAgain(cli, options, output, done.schema);
  const lost = { lostLeaves, servedAgain, holdsGone, keysGone, lake };
  output.result({ ...copyJson(done), keptAside, ...lost, erasedAgain }, () =>
    [facts(copyFacts(done)), `restored into ${parts.config.data}`].join("\n"),
  );
  noteDone(output, keptAside, erasedAgain);
  output.note(lostText(lostLeaves));
  output.note(openAgain(done));
  output.note("When the server starts, the log goes on as its next epoch: tell witnesses.");
}
