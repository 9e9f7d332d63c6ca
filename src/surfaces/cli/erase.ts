import { createInterface } from "node:readline/promises";
import { type Command, Option } from "commander";
import type { Core } from "../../core.ts";
import { fail, invalid } from "../../kit/problem.ts";
import type { Steps } from "../../kit/steps.ts";
import type { Actor } from "../../platform/audit/audit.ts";
import {
  type Counts,
  carryOut,
  type ErasurePlan,
  planErasure,
  requestErasure,
  resolveTarget,
} from "../../share/erasure/erasure.ts";
import { type Cli, type CommonOptions, common, withCore } from "./context.ts";
import { facts, type Output } from "./output.ts";

interface EraseOptions extends CommonOptions {
  readonly person?: string;
  readonly device?: string;
  readonly session?: string;
  readonly entry?: string;
  readonly repo?: string;
  readonly team?: string;
  readonly reason: string;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

const TARGETS = ["person", "device", "session", "entry", "repo"] as const;
/** Options that may be given together: a session with its device. */
const PAIR: readonly string[] = ["device", "session"];

export function eraseCommand(program: Command, cli: Cli): void {
  const only = (flags: string, description: string, name: (typeof TARGETS)[number]) =>
    new Option(flags, description).conflicts(
      TARGETS.filter((other) => other !== name && ![name, other].every((one) => PAIR.includes(one))),
    );
  const erase = common(program.command("erase"))
    .description(
      "erase what was recorded of a person, device, session, entry or repository; the log keeps that it was there",
    )
    .addOption(only("--person <email>", "a person, with the devices that are theirs: e-mail address or id", "person"))
    .addOption(
      only("--device <id>", "what a device sent; its binding ends. With --session: the device that sent it", "device"),
    )
    .addOption(only("--session <id>", "an agent's session: the number of its page, or its agent's id", "session"))
    .addOption(only("--entry <id>", "an entry of telemetry, by the number of its page", "entry"))
    .addOption(only("--repo <key>", "what was sent of a repository", "repo"))
    .option("--team <team>", "with --repo: of this team alone, by id or exact name")
    .requiredOption("--reason <text>", "why; it stays on record, so let it name nobody")
    .option("--dry-run", "only show what would be erased", false)
    .option("--yes", "do not ask", false)
    .action((options: EraseOptions) => {
      if (TARGETS.every((name) => options[name] === undefined))
        erase.error(`error: name what to erase, by ${TARGETS.map((name) => `--${name}`).join(", ")}`);
      // Ignored, the option would let somebody erase more than they mean to.
      if (options.team !== undefined && options.repo === undefined)
        erase.error("error: --team works with --repo alone: everything else is erased in all teams");
      return withCore(cli, options, (core, output, { by }) => eraseTarget(cli, core, output, options, by));
    });
}

async function eraseTarget(cli: Cli, core: Core, output: Output, options: EraseOptions, by: Actor): Promise<void> {
  const resolved = resolveTarget(core, options);
  output.steps("counting what would go");
  const plan = await planErasure(core, resolved);
  if (options.dryRun) {
    output.result({ ...plan, erased: false }, () => planText(plan));
    return;
  }
  if (!options.yes) await confirm(cli, plan);
  const erasure = await requestErasure(core, resolved, options.reason, by);
  const onStep = erasureProgress(plan.counts, output.steps);
  const counts = await carryOut(core, erasure, onStep, output.steps).catch((error: unknown) => {
    output.note(`${erasure.id} is on record, but not finished: the next start of the server goes on with it.`);
    throw error;
  });
  output.result({ erasureId: erasure.id, ...plan, counts, erased: true }, () => doneText(erasure.id, counts));
  output.note(`Copies that stay: ${plan.copies.join("; ")}.`);
}

/**
 * Tells of an erasure how far it is. What was counted goes first; how much was made of it nobody knows, and a share would stand near its end
 * for most of the time.
 * @param planned what was counted
 * @returns what is told what went with each transaction
 */
export function erasureProgress(planned: Counts, steps: Steps): (went: Counts) => void {
  const total = Object.values(planned).reduce((sum, count) => sum + count, 0);
  const onProgress = steps("erasing");
  let gone = 0;
  return (went) => {
    if (gone >= total) return;
    for (const name of Object.keys(planned)) gone += went[name] ?? 0;
    if (gone < total) onProgress(gone / total);
    else steps("erasing what was made of it");
  };
}

const countLines = (counts: Counts) => Object.entries(counts).map(([name, count]) => [name, count] as const);

function planText({ target, counts, devices, copies }: ErasurePlan): string {
  const isPerson = target.startsWith("person ");
  const isNothing = !isPerson && devices.length === 0 && Object.values(counts).every((count) => count === 0);
  return [
    `Would erase: ${target}`,
    facts(countLines(counts)),
    ...(isNothing ? ["Nothing was recorded of it."] : []),
    ...(isPerson
      ? ["With the account: name, sign-ins, tokens, links, memberships, what was asked by read tokens."]
      : []),
    ...(devices.length === 0
      ? []
      : ["Devices whose bindings end, with all that they sent:", ...devices.map((id) => `  ${id}`)]),
    "Copies that stay:",
    ...copies.map((copy) => `  ${copy}`),
  ].join("\n");
}

const doneText = (id: string, counts: Counts) =>
  Object.keys(counts).length === 0
    ? `erased (${id}); nothing was recorded of it`
    : [`erased (${id})`, facts(countLines(counts))].join("\n");

/** @throws Problem where nobody can be asked, or the answer is no */
async function confirm({ place, io }: Cli, plan: ErasurePlan): Promise<void> {
  if (!place.isInteractive) fail(invalid, "nobody can be asked here: look with --dry-run, then say --yes");
  io.err(`${planText(plan)}\n`);
  const line = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await line.question('Nothing brings it back. Type "erase" to go on: ');
  line.close();
  if (answer.trim() !== "erase") fail(invalid, "Nothing was erased.");
}
