import { type Command, InvalidArgumentError, Option } from "commander";
import { getTeam, listTeams } from "../../identity/teams/teams.ts";
import { isoInstant } from "../../kit/clock.ts";
import { counted } from "../../kit/strings.ts";
import {
  ADVISED_DAYS,
  lastRuns,
  MAX_DAYS,
  RETENTION_KINDS,
  type RetentionKind,
  retentionOf,
  setRetention,
} from "../../share/erasure/erasure.ts";
import { type Cli, common, type OfTeam, ofTeam, teamIdNamed, withCore, withTeam } from "./context.ts";

function days(text: string): number | "forever" {
  if (text === "forever") return text;
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > MAX_DAYS)
    throw new InvalidArgumentError(`It must be a number of days from 1 to ${MAX_DAYS}, or forever.`);
  return Number(text);
}

interface SetOptions extends OfTeam {
  readonly kind: RetentionKind;
  readonly days: number | "forever";
}

const daysText = (kept: number | null) => (kept === null ? "forever" : counted(kept, "day"));

export function retentionCommands(program: Command, cli: Cli): void {
  const retention = program.command("retention").description("for how long records are kept");
  ofTeam(retention.command("set").description("say for how long a team's records of a kind are kept"))
    .addOption(new Option("--kind <kind>", "kind of data").choices([...RETENTION_KINDS]).makeOptionMandatory())
    .requiredOption("--days <days>", "a number of days, or forever", days)
    .action((options: SetOptions) =>
      withTeam(cli, options, async (core, output, { id: teamId, name }, caller) => {
        const { kind } = options;
        const kept = options.days === "forever" ? null : options.days;
        const changed = await setRetention(core, teamId, kind, kept, caller.by);
        output.result({ teamId, kind, days: options.days, changed }, () => `${name}: ${kind} ${daysText(kept)}`);
        if (changed && kept !== null)
          output.note("What is older is removed for good, by the next night (UTC); the first time within a minute.");
        if (kept !== null && kept < ADVISED_DAYS)
          output.note(
            `Fewer than ${ADVISED_DAYS} days (six months) is less than what auditors of AI systems mostly ask for.`,
          );
      }),
    );
  common(retention.command("list").description("list the retention periods, and the last nightly runs"))
    .option("--team <team>", "id or exact name")
    .action((options: OfTeam) =>
      withCore(cli, options, (core, output, caller) => {
        const teamId = teamIdNamed(core, caller, options.team);
        const teams = teamId === undefined ? listTeams(core) : [getTeam(core, teamId)];
        const runs = new Map(lastRuns(core).map((run) => [run.teamId, run]));
        const listed = teams.map(({ id: teamId, name }) => {
          const run = runs.get(teamId);
          const lastRun = run
            ? { at: isoInstant(run.at), finished: run.completedAt !== null, counts: run.counts }
            : null;
          return { teamId, name, lastRun, keeps: retentionOf(core, teamId) };
        });
        return output.list(listed, {
          json: ({ keeps, ...team }) => ({
            ...team,
            keeps: Object.fromEntries(RETENTION_KINDS.map((kind) => [kind, keeps[kind] ?? "forever"])),
          }),
          headings: ["TEAM", ...RETENTION_KINDS.map((kind) => kind.toUpperCase()), "LAST RUN"],
          cells: ({ name, keeps, lastRun }) => [
            name,
            ...RETENTION_KINDS.map((kind) => daysText(keeps[kind])),
            lastRun?.at ?? null,
          ],
          empty: "No teams yet.",
        });
      }),
    );
}
