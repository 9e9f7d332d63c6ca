import type { Command } from "commander";
import { findTeam } from "../../identity/teams/teams.ts";
import { DAY_MS, isoInstant } from "../../kit/clock.ts";
import { isDate } from "../../kit/date.ts";
import { listEvents } from "../../platform/audit/audit.ts";
import { type Cli, type CommonOptions, common, teamIdNamed, withCore } from "./context.ts";
import { instant, upTo } from "./values.ts";

const SHOWN = 50;
const MOST = 10_000;

interface AuditOptions extends CommonOptions {
  readonly team?: string;
  readonly action?: string;
  readonly text?: string;
  readonly since?: number;
  readonly until?: number;
  readonly limit: number;
}

/** Reads an end: a day counts to its last instant. */
const untilEnd = (text: string): number => instant(text) + (isDate(text) ? DAY_MS : 0);

/** Who did what, as the dashboard's audit has it. */
export function auditCommand(program: Command, cli: Cli): void {
  common(program.command("audit").description("who did what, when and from where, the newest first"))
    .option("--team <team>", "only what concerns this team: id or exact name")
    .option("--action <name>", 'only events of this kind, such as "device.revoked"')
    .option("--text <text>", "only events with this text in the name of the actor or the target, or in an address")
    .option("--since <instant>", "from then on: a date or an instant, such as 2026-11-21T12:00:00Z", instant)
    .option("--until <instant>", "before then; a date is included", untilEnd)
    .option("--limit <n>", `events at most, 1 to ${MOST}`, upTo(MOST), SHOWN)
    .action((options: AuditOptions) =>
      withCore(cli, options, async (core, output, caller) => {
        const { team, action, text, since: from, until: to, limit } = options;
        const teamId = teamIdNamed(core, caller, team) ?? null;
        const { rows, older } = await listEvents(core, { teamId, action, text, from, to }, limit);
        await output.list(rows, {
          json: (event) => ({ ...event, at: isoInstant(event.at) }),
          headings: ["AT", "WHO", "ACTION", "TARGET", "TEAM", "FROM"],
          cells: (event) => [
            isoInstant(event.at),
            event.actorLabel,
            event.action,
            event.targetLabel ?? event.targetId,
            event.teamId && (findTeam(core, event.teamId)?.name ?? event.teamId),
            event.ip,
          ],
          empty: "No such event.",
        });
        if (older !== undefined)
          output.note("There are older ones: --limit shows more, --until those before an instant.");
      }),
    );
}
