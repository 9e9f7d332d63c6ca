import type { Command } from "commander";
import { issueLicense, verifyLicense } from "../../identity/license/license.ts";
import { systemClock } from "../../kit/clock.ts";
import { invalid, Problem } from "../../kit/problem.ts";
import { shellWord } from "../../kit/strings.ts";
import {
  type Cli,
  type CommonOptions,
  noteGuessedAddress,
  type OfTeam,
  ofTeam,
  outputAt,
  withTeam,
} from "./context.ts";
import { facts, withJson } from "./output.ts";
import { readText } from "./texts.ts";
import { instant, wholeNumber } from "./values.ts";

export function licenseCommands(program: Command, cli: Cli): void {
  const license = program.command("license").description("licences that verify offline");

  ofTeam(license.command("mint").description("sign a licence for a team"))
    .option("--days <n>", "lifetime, capped by the paid period (default: RECKON_LICENSE_DAYS)", wholeNumber)
    .option("--out <file>", "write it to a file instead of printing it")
    .option("--force", "replace that file if it is there", false)
    .action(async (options: OfTeam & { days?: number; out?: string; force: boolean }) => {
      if (options.out !== undefined && !options.force) cli.place.requireNewFile(options.out, "--force replaces it");
      return withTeam(cli, options, async (core, output, team, caller) => {
        const { license: signed, teamId } = await issueLicense(core, team.id, options.days, caller.by);
        if (options.out !== undefined) await cli.place.writeText(options.out, `${signed}\n`);
        output.result({ license: signed, teamId, file: options.out ?? null }, () =>
          options.out === undefined ? signed : "",
        );
        noteGuessedAddress(core, output, "the issuer that it names (iss)");
        if (options.out !== undefined)
          output.note(
            `Written to ${options.out}. Check it anywhere with: reckon license verify ${shellWord(options.out)} --pubkey PEM`,
          );
      });
    });

  withJson(license.command("verify"))
    .argument("<file>", "licence file; - reads standard input")
    .description("check a licence with public keys alone: no data directory, no server, no network")
    .requiredOption("--pubkey <pem>", "file of the public key, or of several (SPKI, PEM)")
    .option("--at <date>", "judge it as of this date instead of now", instant)
    .option("--data <dir>", "accepted for uniformity; nothing is read from it")
    .action(async (file: string, options: CommonOptions & { pubkey: string; at?: number }) => {
      const text = await readText(file);
      const pem = await readText(options.pubkey);
      const at = new Date(options.at ?? systemClock.now());
      const verdict = await verifyLicense(text, pem, at, options.at === undefined).catch((error: Error) => {
        throw error instanceof Problem
          ? new Problem(invalid, `${options.pubkey} is of no use here: ${error.message}`)
          : error;
      });
      const claims = verdict.claims;
      outputAt(cli, options).result(
        { valid: verdict.valid, claims, reason: verdict.valid ? null : verdict.reason },
        () =>
          [
            verdict.valid ? "valid" : `not valid: ${verdict.reason}`,
            ...(claims
              ? [
                  facts([
                    ["team", String(claims.sub)],
                    ["tier", String(claims.tier)],
                    ["seats", Number(claims.seats)],
                    ["status", String(claims.status)],
                    ["expires", new Date(Number(claims.exp) * 1000).toISOString()],
                  ]),
                ]
              : []),
          ].join("\n"),
      );
      if (!verdict.valid) cli.exitCode = 1;
    });
}
