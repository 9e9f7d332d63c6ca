import { type Command, Option } from "commander";
import type { Core } from "../../core.ts";
import { WIRE_FINGERPRINT } from "../../formats/errors/fingerprint.ts";
import { findUser } from "../../identity/people/people.ts";
import type { Team } from "../../identity/teams/teams.ts";
import { defectsOfClass, entriesProjection, findDefect, onWire } from "../../insight/defects/defects.ts";
import {
  type Act,
  act,
  ownersOf,
  pageOfErrors,
  STATES,
  type State,
  type Subject,
  standingOfClass,
  standingOfEntry,
  timelineOf,
} from "../../insight/triage/triage.ts";
import { instantOrNull, isoInstant } from "../../kit/clock.ts";
import { fail, notFound } from "../../kit/problem.ts";
import { catchUp } from "../../platform/projections/projections.ts";
import { type Caller, type Cli, type OfTeam, ofTeam, personNamed, withTeam } from "./context.ts";
import { facts, type Output, printableLines } from "./output.ts";
import { instant, oneOf, upTo } from "./values.ts";

const DEFAULT_LISTED = 100;
const MAX_LISTED = 200;

/** An error as people name it: a class by 8 hexadecimal digits, or an entry by its number. */
interface Named extends Subject {
  readonly title: string;
}

/** @throws Problem 404 */
async function named(core: Core, { id: teamId }: Team, id: string): Promise<Named> {
  await catchUp(core, entriesProjection);
  const isClass = WIRE_FINGERPRINT.test(id);
  const entry = isClass ? defectsOfClass(core, teamId, id, { most: 1 })[0] : findDefect(core, teamId, Number(id));
  if (!entry) fail(notFound, `There is no error "${id}" (see: reckon error list)`);
  const title = entry.title || entry.heading;
  return { teamId, fingerprint: onWire(entry.fingerprint), title, ...(!isClass && { entryId: entry.id }) };
}

/** Its standing, as commands print it. */
function standingAsJson(core: Core, { teamId, fingerprint, entryId, title }: Named) {
  const entry = entryId === undefined ? undefined : findDefect(core, teamId, entryId);
  const standing = entry
    ? standingOfEntry(core, teamId, fingerprint, entry)
    : standingOfClass(core, teamId, fingerprint);
  const { state = "resolved", owner = null, snoozedUntil = null, tracker = null } = standing ?? {};
  return {
    ...{ class: fingerprint, entry: entryId ?? null, title, state, owner },
    ...{ snoozedUntil: instantOrNull(snoozedUntil), tracker },
  };
}

export function errorCommands(program: Command, cli: Cli): void {
  const error = program.command("error").description("what went wrong, by the errors files, and who takes it on");
  addList(error, cli);
  addShow(error, cli);
  addActs(error, cli);
}

/** A command about one error. */
const ofError = (error: Command, name: string, description: string): Command =>
  ofTeam(error.command(name).argument("<error>", "8 digits of a class, or the number of an entry")).description(
    description,
  );

interface Listed extends OfTeam {
  readonly state?: State;
  readonly owner?: string;
  readonly nobody: boolean;
  readonly repo?: string;
  readonly limit: number;
}

function addList(error: Command, cli: Cli): void {
  ofTeam(error.command("list").description("list errors, the one seen last first"))
    .option("--state <state>", `one of ${STATES.join(", ")}`, oneOf(STATES))
    .addOption(new Option("--owner <email>", "only those of this person: e-mail address or id").conflicts("nobody"))
    .option("--nobody", "only those that nobody has taken on", false)
    .option("--repo <key>", "only those of this repository")
    .option("--limit <n>", `how many at most, 1 to ${MAX_LISTED}`, upTo(MAX_LISTED), DEFAULT_LISTED)
    .action((options: Listed) =>
      withTeam(cli, options, async (core, output, team, caller) => {
        await catchUp(core, entriesProjection);
        const { rows, older } = await pageOfErrors(core, team.id, {
          states: options.state ? [options.state] : STATES,
          repoKey: options.repo,
          owner: options.nobody ? "" : options.owner && personNamed(core, caller, options.owner).id,
          ...{ sort: "last", ascending: false, limit: options.limit },
        });
        await printList(core, output, rows);
        if (older !== undefined) output.note(`There are more than ${rows.length}: narrow the list, or raise --limit.`);
      }),
    );
}

function printList(core: Core, output: Output, rows: Awaited<ReturnType<typeof pageOfErrors>>["rows"]): Promise<void> {
  const owners = ownersOf(
    core,
    rows.map(({ ownerId }) => ownerId),
  );
  const ownerOf = ({ ownerId }: (typeof rows)[number]) => owners.get(ownerId ?? "") ?? null;
  return output.list(rows, {
    json: (row) => ({
      ...{ class: row.fingerprint, title: row.title, rule: row.rule, state: row.state, owner: ownerOf(row) },
      ...{ occurrences: row.occurrences, firstSeen: row.firstSeen, lastSeen: row.lastSeen },
      repoKeys: JSON.parse(row.repos) as string[],
      ...{ snoozedUntil: row.state === "snoozed" ? instantOrNull(row.snoozedUntil) : null, tracker: row.tracker },
    }),
    headings: ["CLASS", "STATE", "ENTRIES", "LAST SEEN", "OWNER", "TITLE"],
    cells: (row) => [
      ...[row.fingerprint, row.state, row.occurrences, row.lastSeen, ownerOf(row)?.email ?? null, row.title],
    ],
    empty: "No such errors.",
  });
}

function addShow(error: Command, cli: Cli): void {
  ofError(error, "show", "show an error's state, and what people said and did about it").action(
    (id: string, options: OfTeam) =>
      withTeam(cli, options, async (core, output, team) => {
        const one = await named(core, team, id);
        const standing = standingAsJson(core, one);
        const activity = timelineOf(core, one.teamId, one.fingerprint, one.entryId).map((event) => ({
          ...{
            at: isoInstant(event.at),
            kind: event.kind,
            by: findUser(core, event.actorId ?? "")?.email ?? event.actorLabel,
            entry: event.entryId || null,
          },
          ...{ to: event.person?.email ?? null, text: event.body },
        }));
        output.result({ ...standing, activity }, () => {
          const head = facts(
            Object.entries(standing).map(
              ([name, value]) => [name, typeof value === "object" ? (value?.email ?? null) : value] as const,
            ),
          );
          // Further lines of others' words are indented, or one would pass for a line of this list.
          const lines = activity.map(({ at, kind, by, to, text }) =>
            printableLines([at, by, kind, to ?? text ?? ""].join("\t").trimEnd()).replaceAll("\n", "\n\t"),
          );
          return [head, ...lines].join("\n");
        });
      }),
  );
}

function addActs(error: Command, cli: Cli): void {
  const add = (name: string, description: string) => ofError(error, name, description);
  const perform = (id: string, options: OfTeam, what: (core: Core, caller: Caller) => Act) =>
    withTeam(cli, options, async (core, output, team, caller) => {
      const one = await named(core, team, id);
      const changed = await act(core, one, what(core, caller), caller.by);
      const standing = standingAsJson(core, one);
      output.result({ ...standing, changed }, () =>
        changed ? `${id}\t${standing.state}\t${standing.owner?.email ?? "-"}` : `${id} was so before`,
      );
    });
  const assign = add("assign", "say who takes an error on, e.g. ada@example.com")
    .argument("[email]", "e-mail address or id of one of the team's people")
    .option("--nobody", "take it away from whoever has it", false)
    .action((id: string, email: string | undefined, options: OfTeam & { nobody: boolean }) => {
      if ((email !== undefined) === options.nobody) assign.error("error: name a person of the team, or --nobody");
      return perform(id, options, (core, caller) => ({
        kind: "assign",
        ownerId: email === undefined ? null : personNamed(core, caller, email).id,
      }));
    });
  add("resolve", "say that an error is resolved; one that comes again opens by itself").action(
    (id: string, options: OfTeam) => perform(id, options, () => ({ kind: "resolve" })),
  );
  add("reopen", "say that an error is open").action((id: string, options: OfTeam) =>
    perform(id, options, () => ({ kind: "reopen" })),
  );
  add("snooze", "leave an error aside until it comes again, or until a day")
    .option("--until <day>", "a date such as 2026-12-31", instant)
    .action((id: string, options: OfTeam & { until?: number }) =>
      perform(id, options, () => ({ kind: "snooze", until: options.until ?? null })),
    );
  add("comment", "comment on an error")
    .argument("<text>", "at most 4,000 characters")
    .action((id: string, text: string, options: OfTeam) => perform(id, options, () => ({ kind: "comment", text })));
  const link = add("link", "say where an error is tracked")
    .argument("[url]", "begins with https://")
    .option("--none", "take the link away", false)
    .action((id: string, url: string | undefined, options: OfTeam & { none: boolean }) => {
      if ((url !== undefined) === options.none) link.error("error: name an address, or --none");
      return perform(id, options, () => ({ kind: "link", url: url ?? null }));
    });
}
