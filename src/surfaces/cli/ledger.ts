import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { getTeam } from "../../identity/teams/teams.ts";
import { readTextFile } from "../../kit/bounded-text.ts";
import { instantOrNull, isoInstant, systemClock } from "../../kit/clock.ts";
import { visible } from "../../kit/escape-invisible.ts";
import { writeFileAtomically } from "../../kit/files.ts";
import { isObject, parseJson } from "../../kit/json.ts";
import { fail, Problem, unavailable } from "../../kit/problem.ts";
import { counted, shellWord } from "../../kit/strings.ts";
import { type CheckReport, checkBundle } from "../../kit/transparency/check.ts";
import { wholeNumberOf } from "../../kit/transparency/checkpoint.ts";
import { COSIGNATURE_V1, ED25519, type NoteKey, parseVkey, type SignatureType } from "../../kit/transparency/note.ts";
import { MAX_PROOF_BYTES } from "../../kit/transparency/proof.ts";
import { checkpoint, ledgerKeys, proveGrowth } from "../../platform/transparency/transparency.ts";
import { checkArchive, isArchive } from "../../share/export/export.ts";
import { verifyLedger } from "../../share/maintenance/maintenance.ts";
import { numberOfSession, PROVABLE, type Provable, prove } from "../../share/proofs/proofs.ts";
import { type Cosigned, observe, type Refused } from "../../share/witness/witness.ts";
import { type Cli, type CommonOptions, common, type OfTeam, outputAt, withCore, withCoreToLook } from "./context.ts";
import { facts, type Output, table, withJson } from "./output.ts";

export function ledgerCommands(program: Command, cli: Cli): void {
  const ledger = program.command("ledger").description("the chained record of what was acknowledged, and proofs of it");
  addVerify(ledger, cli);
  addHead(ledger, cli);
  addProve(ledger, cli);
  addCheck(ledger, cli);
  addWitness(ledger, cli);
}

function anchor(text: string): { id: number; chainSha256: string } {
  const match = /^(\d+):([0-9a-f]{64})$/.exec(text);
  if (!match) throw new InvalidArgumentError("It must be ID:HASH as an earlier run printed it.");
  return { id: Number(match[1]), chainSha256: match[2] as string };
}

function addVerify(ledger: Command, cli: Cli): void {
  common(ledger.command("verify").description("prove that every delivery is still there and unaltered"))
    .option("--anchor <id:hash>", "head that an earlier run printed", anchor)
    .action((options: CommonOptions & { anchor?: { id: number; chainSha256: string } }) =>
      withCoreToLook(cli, options, (core, output) => {
        const report = verifyLedger(core, options.anchor, output.steps("verifying the ledger"));
        output.result(report, () =>
          report.faults.length === 0
            ? `${counted(report.deliveries, "delivery verifies", "deliveries verify")}${report.erased > 0 ? `, something of ${report.erased} was erased` : ""}${report.head ? `; head ${report.head.id}:${report.head.chainSha256}` : ""}${report.signed === null ? "; no checkpoint to compare" : ""}`
            : table(
                ["DELIVERY", "KIND", "RECEIVED", "PROBLEM", "DETAIL"],
                report.faults.map((one) => [one.deliveryId, one.kind, one.receivedAt, one.problem, one.detail]),
                "",
              ),
        );
        if (report.faults.length > 0) cli.exitCode = 1;
      }),
    );
}

/** A number of leaves. */
function size(text: string): number {
  const count = wholeNumberOf(text);
  if (count === undefined) throw new InvalidArgumentError("It must be a whole number.");
  return count;
}

function addHead(ledger: Command, cli: Cli): void {
  common(
    ledger.command("key").description("print the log's key, which proofs are checked with: note it elsewhere"),
  ).action((options: CommonOptions) =>
    withCore(cli, options, (core, output) => {
      const vkey = ledgerKeys.vkey(core) ?? fail(unavailable, "no server started on this database yet");
      output.result({ vkey }, () => vkey);
    }),
  );
  common(ledger.command("checkpoint").description("sign the log's present head, for a witness or to note it elsewhere"))
    .option("--since <size>", "prove as well that it only grew since it had so many leaves", size)
    .action((options: CommonOptions & { since?: number }) =>
      withCore(cli, options, (core, output) => {
        const head = checkpoint(core) ?? fail(unavailable, "no server started on this database yet");
        const text = options.since === undefined ? head.note : proveGrowth(core, options.since);
        const { origin, size: leaves, root } = head;
        output.result({ origin, size: leaves, root: root.toString("base64"), note: text }, () => text.trimEnd());
      }),
    );
}

/** What is to be proved, given as `entry:12` or `entry 12`, a session by any name; undefined for anything else. */
function provable(what: string, id: string | undefined): { kind: Provable; named: string } | undefined {
  const [, kind, named = ""] = /^([a-z]+)[: ](.+)$/.exec(id === undefined ? what : `${what} ${id}`) ?? [];
  const found = PROVABLE.find((one) => one === kind);
  return found && (found === "session" || /^[1-9]\d{0,15}$/.test(named)) ? { kind: found, named } : undefined;
}

function addProve(ledger: Command, cli: Cli): void {
  const command: Command = common(
    ledger
      .command("prove")
      .argument("<what>", `${PROVABLE.join(", ")}, with its number as in the page's address: entry:12`)
      .argument("[number]", "the number, if the first argument has none; of a session its agent's id for it as well")
      .description("write a proof, for anybody with the log's key, that something is in the log"),
  )
    .option("--team <team>", "only what is of this team: id or exact name")
    .option("--out <file>", "where to; printed otherwise");
  command.action((what: string, number: string | undefined, options: OfTeam & { out?: string }) => {
    const target = provable(what, number);
    if (!target)
      command.error(`error: say what to prove as KIND:NUMBER, with ${PROVABLE.join(", ")} for KIND: entry:12`);
    return withCore(cli, options, (core, output) => {
      const { kind, named } = target;
      const { team, out } = options;
      const teamId = team === undefined ? null : getTeam(core, team).id;
      const id = kind === "session" ? numberOfSession(core, teamId, named) : Number(named);
      const proof = prove(core, teamId, kind, id);
      if (out !== undefined) writeFileAtomically(resolve(out), proof, true, 0o644);
      output.result({ kind, id, file: out ?? null, proof }, () => (out === undefined ? proof.trimEnd() : out));
      output.note(`Check it with: reckon ledger check ${shellWord(out ?? "FILE")} --key ${ledgerKeys.vkey(core)}`);
    });
  });
}

const keyOfType = (type: SignatureType, wrong: string) => (text: string) => {
  let key: NoteKey;
  try {
    key = parseVkey(text);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
  if (key.type !== type) throw new InvalidArgumentError(wrong);
  return key;
};
const logKey = keyOfType(ED25519, "It is the key of a witness, not of a log.");
const witnessKey = keyOfType(COSIGNATURE_V1, "It is the key of a log, not of a witness.");

interface CheckOptions {
  readonly json: boolean;
  readonly key: NoteKey;
  readonly witness: readonly NoteKey[];
}

function addCheck(ledger: Command, cli: Cli): void {
  withJson(ledger.command("check"))
    .argument("<file>", "a proof that ledger prove wrote, or an archive that export wrote")
    .description("check a proof or an archive with the log's key alone: no data directory, no network")
    .requiredOption("--key <vkey>", "the log's key, from another source than the file", logKey)
    .option(
      "--witness <vkey>",
      "a witness who must have cosigned; may be given more than once",
      (text: string, before: readonly NoteKey[]) => [...before, witnessKey(text)],
      [],
    )
    .action(async (file: string, options: CheckOptions) => {
      const output = outputAt(cli, options);
      const report = isArchive(file)
        ? await checkArchive(file, options.key, options.witness, output.steps("checking the archive"))
        : judge(file, options);
      output.result(checkJson(report), () => checkText(report));
      if (!report.proven) cli.exitCode = 1;
    });
}

function judge(file: string, { key, witness }: CheckOptions): CheckReport {
  try {
    return checkBundle(readTextFile(file, MAX_PROOF_BYTES), key, witness);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const steps = [{ step: "file", ok: false, detail: error.message }] as const;
    return { proven: false, steps, checkpoint: null, bundle: null, cosignatures: [] };
  }
}

const checkJson = ({ proven, steps, checkpoint, bundle, cosignatures }: CheckReport) => ({
  proven,
  steps,
  checkpoint: checkpoint && {
    origin: checkpoint.origin,
    size: checkpoint.size,
    root: checkpoint.root.toString("base64"),
  },
  leaf: bundle && { index: bundle.index, text: bundle.leaf },
  items: bundle?.items.map(({ index, count, text }) => ({ index, count, text })) ?? [],
  cosignatures: cosignatures.map(({ key, at }) => ({ name: key.name, at: instantOrNull(at) })),
});

const MAX_SHOWN_CHARS = 2_000;
const MAX_SHOWN_FACTS = 40;
/** The latest time that a Date can hold (ECMA-262, time values). */
const MAX_TIME_MS = 8.64e15;
const shown = (text: string) =>
  visible(text.slice(0, MAX_SHOWN_CHARS)) +
  (text.length > MAX_SHOWN_CHARS ? `… (${text.length} characters; --json shows all)` : "");

/** The members of a leaf, one by one; times in words as well. */
function leafFacts(text: string): [string, string][] {
  const leaf = parseJson(text);
  if (!isObject(leaf)) return [["  text", shown(text)]];
  return Object.entries(leaf)
    .slice(0, MAX_SHOWN_FACTS)
    .map(([name, value]) => {
      const isTime = name === "at" && typeof value === "number" && Math.abs(value) < MAX_TIME_MS;
      const said = typeof value === "string" ? value : JSON.stringify(value);
      return [`  ${shown(name)}`, shown(isTime ? `${said} (${isoInstant(value)})` : said)];
    });
}

const bundleFacts = ({ index, leaf, items }: NonNullable<CheckReport["bundle"]>, size: number): [string, string][] => [
  ["leaf", `index ${index} of ${size}`],
  ...leafFacts(leaf),
  ...items.map(({ index: item, text }): [string, string] => [`item ${item}`, shown(text)]),
];

function checkText({ proven, steps, checkpoint, bundle, cosignatures }: CheckReport): string {
  const judged = table(
    ["STEP", "HOLDS", "DETAIL"],
    steps.map(({ step, ok, detail }) => [step, ok ? "yes" : "NO", detail]),
    "",
  );
  if (!proven || !checkpoint) return `${judged}\n\nNOT PROVEN: believe nothing of what the file says.`;
  const proved = facts([
    ["log", checkpoint.origin],
    ["root", checkpoint.root.toString("base64")],
    ...(bundle ? bundleFacts(bundle, checkpoint.size) : []),
    ...cosignatures.map(({ key, at }) => ["cosigned", `${isoInstant(at ?? 0)} by ${key.name}`] as const),
  ]);
  return `${judged}\n\n${proved}\n\nPROVEN: the log had taken this in when it signed.`;
}

interface WitnessOptions {
  readonly json: boolean;
  readonly state: string;
  readonly key?: NoteKey;
  readonly name?: string;
}

function addWitness(ledger: Command, cli: Cli): void {
  withJson(ledger.command("witness"))
    .argument("<url|file>", "the log's server, or a file that was brought from it")
    .description("check that a log only grew since the last look, and cosign its checkpoint")
    .requiredOption("--state <file>", "what is remembered of this log; the witness's own key lies beside it")
    .option("--key <vkey>", "the log's key; needed once", logKey)
    .option("--name <name>", "what the witness is called, when its key is made (default: this machine's name)")
    .action(async (place: string, { state, key, name, json }: WitnessOptions) => {
      const found = await observe({ statePath: state, place, logKey: key, name, now: systemClock.now() });
      const output = outputAt(cli, { json });
      if (found.kind === "cosigned") showCosigned(found, output);
      else {
        showRefused(found, output);
        cli.exitCode = 1;
      }
    });
}

function showCosigned({ checkpoint, previous, note, vkey, isNewKey }: Cosigned, output: Output): void {
  const { origin, size, root } = checkpoint;
  const before = previous && { origin: previous.origin, size: previous.size };
  const result = { cosigned: true, origin, size, root: root.toString("base64"), previous: before, note, vkey };
  output.result(result, () => note);
  const leaves = counted(size, "leaf", "leaves");
  output.note(
    previous === null
      ? `${visible(origin)} has ${leaves}. This is the first look: what was before, this witness cannot say.`
      : `${visible(origin)} has ${leaves}, and only grew from the ${previous.size} of the last look.`,
  );
  if (previous && previous.origin !== origin)
    output.note(`It was called ${visible(previous.origin)}: a log is given a new name after a restore or a move.`);
  if (isNewKey) output.note(`A key was made for this witness. Whoever is to trust it needs:\n${vkey}`);
}

function showRefused({ reason, detail, evidence }: Refused, output: Output): void {
  output.result({ cosigned: false, reason, detail, evidence }, () => "");
  output.note(
    `NOT COSIGNED (${reason}): ${visible(detail)}.\nThe log signed both: ${evidence[0]}, which was cosigned before, and ${evidence[1]}. Keep these files.`,
  );
}
