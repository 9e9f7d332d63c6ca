import { type Command, InvalidArgumentError, Option } from "commander";
import {
  CODE_LIMITS,
  createCode,
  createFleetCodes,
  listOpenCodes,
  revokeCode,
} from "../../identity/devices/devices.ts";
import { DAY_MS, isoInstant } from "../../kit/clock.ts";
import { csvLine } from "../../kit/csv.ts";
import { fail, notFound } from "../../kit/problem.ts";
import { shellWord } from "../../kit/strings.ts";
import { type Cli, type OfTeam, ofTeam, withTeam } from "./context.ts";
import { atMost, duration, upTo } from "./values.ts";

/** @returns milliseconds for which each machine of a code is bound */
const boundFor = (text: string) => {
  const span = duration(text);
  if (span < CODE_LIMITS.minBindingMs || span > CODE_LIMITS.maxBindingMs)
    throw new InvalidArgumentError("It must be from 1m to 7d.");
  return span;
};

interface Created extends OfTeam {
  readonly expires?: number;
  readonly count?: number;
  readonly uses?: number;
  readonly ephemeral?: number;
  readonly csv: boolean;
}

export function codeCommands(program: Command, cli: Cli): void {
  const code = program.command("code").description("connect codes, which bind machines to teams");
  addCreate(code, cli);
  addList(code, cli);
  addRevoke(code, cli);
}

function addCreate(code: Command, cli: Cli): void {
  const create = ofTeam(code.command("create").description("mint codes that bind machines to a team"))
    .option(
      "--expires <span>",
      `how long it may be used, e.g. 15m or 2h, a day at most, ${CODE_LIMITS.maxFleetDays}d with --uses, --count or --ephemeral (default: 15m)`,
      atMost(CODE_LIMITS.maxFleetDays * DAY_MS, `${CODE_LIMITS.maxFleetDays} days`),
    )
    .option("--uses <n>", "how many machines each may bind (default: 1)", upTo(CODE_LIMITS.maxUses))
    .option("--count <n>", "how many codes; prints a list", upTo(CODE_LIMITS.maxAtOnce))
    .option(
      "--ephemeral <span>",
      "for machines that live for one job, as in CI: each is bound for so long and takes no seat afterwards, e.g. 6h",
      boundFor,
    )
    .addOption(
      new Option("--csv", "print the codes as comma-separated values (RFC 4180)").default(false).conflicts("json"),
    )
    .action((options: Created) => {
      const { count, uses, expires, ephemeral, csv } = options;
      const fleet = count !== undefined || uses !== undefined || ephemeral !== undefined;
      if (!fleet && expires !== undefined && expires > CODE_LIMITS.maxLifetimeMs)
        create.error("error: a code may live longer than a day only with --uses, --count or --ephemeral");
      return withTeam(cli, options, async (core, output, { id: teamId }, caller) => {
        const lifetimeMs = expires ?? CODE_LIMITS.lifetimeMs;
        const made = fleet
          ? await createFleetCodes(
              core,
              teamId,
              { count: count ?? 1, uses: uses ?? 1, lifetimeMs, bindsForMs: ephemeral ?? null },
              caller.by,
            )
          : [await createCode(core, teamId, caller.by, lifetimeMs)];
        const all = made.map((one) => ({ ...one, expiresAt: isoInstant(one.expiresAt) }));
        const [first] = all;
        output.result(count === undefined ? first : all, () =>
          csv
            ? csvLine(CSV_COLUMNS) + all.map((one) => csvLine(CSV_COLUMNS.map((name) => one[name]))).join("")
            : all.map(({ code }) => code).join("\n"),
        );
        output.note(`Shown once; ${all.length > 1 ? "they" : "it"} can be used until ${first?.expiresAt}.`);
      });
    });
}

const CSV_COLUMNS = ["code", "id", "uses", "expiresAt", "teamId"] as const;

function addList(code: Command, cli: Cli): void {
  ofTeam(code.command("list").description("list the codes that can still be used")).action((options: OfTeam) =>
    withTeam(cli, options, (core, output, { id, name }) => {
      const codes = listOpenCodes(core, id, null, -1);
      return output.list(codes, {
        json: (one) => ({
          id: one.id,
          createdBy: one.createdBy,
          createdAt: isoInstant(one.createdAt),
          expiresAt: isoInstant(one.expiresAt),
          uses: one.uses,
          usesLeft: one.uses - one.used,
          bindsForMs: one.bindsForMs,
        }),
        headings: ["ID", "MADE BY", "EXPIRES", "USES LEFT", "OF"],
        cells: (one) => [one.id, one.createdBy, isoInstant(one.expiresAt), one.uses - one.used, one.uses],
        empty: `No open code. Mint one with: ${output.reckon(`code create --team ${shellWord(name)}`)}`,
      });
    }),
  );
}

function addRevoke(code: Command, cli: Cli): void {
  ofTeam(code.command("revoke").argument("<ids...>", "ids of codes, as the list has them"))
    .description("end codes before their time")
    .action((ids: string[], options: OfTeam) =>
      withTeam(cli, options, async (core, output, team, caller) => {
        const revoked: string[] = [];
        for (const id of ids) if (await revokeCode(core, team.id, id, caller.by)) revoked.push(id);
        output.result({ revoked }, () => revoked.map((id) => `${id} is revoked`).join("\n"));
        const [missing] = ids.filter((id) => !revoked.includes(id));
        if (missing !== undefined)
          fail(
            notFound,
            `there is no open code with the id "${missing}" (see: ${output.reckon(`code list --team ${shellWord(team.name)}`)})`,
          );
      }),
    );
}
