import { cpSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject } from "vitest";
import { createApiToken, type NewApiToken } from "../../src/identity/api-tokens/api-tokens.ts";
import { createCode } from "../../src/identity/devices/devices.ts";
import { addIssuer } from "../../src/identity/sso/sso.ts";
import { setBudget } from "../../src/insight/budgets/budgets.ts";
import { entriesProjection } from "../../src/insight/defects/defects.ts";
import { unwatched } from "../../src/kit/steps.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { catchUp } from "../../src/platform/projections/projections.ts";
import { placeHold } from "../../src/share/erasure/erasure.ts";
import { createChannel } from "../../src/share/notifications/notifications.ts";
import { addRelease } from "../../src/share/releases/releases.ts";
import { run } from "../../src/surfaces/cli/run.ts";
import { type Done, reckon, type StartOptions } from "../faults/support/process.ts";
import { fillRecords } from "./api.ts";
import { cliToken, waiting } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { startInstance, type TestInstance } from "./instance.ts";
import { publish } from "./packs.ts";
import { memberOf, readToken } from "./reads.ts";

/** What a command printed, and how it ended. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line in this process. */
export async function ran(argv: readonly string[], env: Record<string, string> = {}, isTerminal = false): Promise<Ran> {
  let [out, err] = ["", ""];
  const io = {
    out: (text: string) => {
      out += text;
    },
    piece: async (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
    isTerminal,
    steps: unwatched,
  };
  return { code: await run(argv, env, io), out, err };
}

const begun = new Set<string>();
/** Commands that run beside an agent print on their process's own streams. */
const OF_A_PROCESS = /^agent\b/;

/**
 * Runs a command line to its end. The first of each command, and those that are given more than words and an environment, are processes;
 * further ones are run in this one, where they take a tenth of the time.
 */
export async function command(argv: readonly string[], options: StartOptions = {}): Promise<Done> {
  const [name = ""] = /^[a-z-]+(?: [a-z][a-z-]*(?= |$))?/.exec(argv.join(" ")) ?? [];
  const { env, ...more } = options;
  if (Object.keys(more).length > 0 || !begun.has(name) || OF_A_PROCESS.test(name)) {
    begun.add(name);
    return reckon(argv, options);
  }
  const { code, out, err } = await ran(argv, env);
  return { code, stdout: out, stderr: err };
}

/** Runs a command that prints one JSON document; it must succeed, and complain of nothing. */
export async function commandJson(argv: readonly string[], options?: StartOptions) {
  const done = await command([...argv, "--json"], options);
  expect([argv.join(" "), done.code, done.stderr.includes("reckon:")]).toEqual([argv.join(" "), 0, false]);
  return JSON.parse(done.stdout);
}

/** Writes a text where a command reads it. */
export function textFile(text: string): string {
  const path = join(newFolder(), "text");
  writeFileSync(path, text);
  return path;
}

/** An instance by the real clock, with something of everything that commands are about. */
async function makeEverything() {
  const t = await startInstance();
  t.clock.jump(Date.now() - t.clock.now());
  const { core } = t.instance;
  // One after another: what was made at the same instant has no order.
  const next = <T>(made: () => T): T => {
    t.clock.advance(1);
    return made();
  };
  const acme = await next(() => t.team({ name: "Acme" }));
  const other = await next(() => t.team({ name: "Other" }));
  const bob = await next(() => memberOf(t, acme));
  const device = await next(() => t.device(acme));
  const foreign = await next(() => t.device(other));
  await next(() => fillRecords(t, device));
  await next(() => publish(t, acme.id, { name: "cookies" }));
  const code = await next(() => createCode(core, acme.id, COMMAND_LINE, 86_400_000));
  const { id: readTokenId } = await next(() => readToken(t, bob.id));
  const report = { teamId: acme.id, userId: null, name: "report" };
  const { id: apiTokenId } = await next(() => createApiToken(core, report, COMMAND_LINE));
  const hook = {
    teamId: acme.id,
    kind: "webhook",
    name: "hook",
    target: "https://hooks.example.com/y",
    events: ["gap"],
  };
  const made = await next(() => createChannel(core, { ...hook, kind: "webhook" }, COMMAND_LINE));
  const { userCode } = await next(() => waiting(t));
  await next(() => cliToken(t, bob));
  const request = (text: string) =>
    next(async () => (await t.post("/api/requests/ingest", { json: { text } })).body.id as string);
  const requests = [await request("Match whole phrases."), await request("Whole phrases, please.")] as const;
  const release = { platform: "win32", version: "1.0.0", url: "https://example.com/a.exe", sha512: "ab".repeat(64) };
  await next(() => addRelease(core, release, COMMAND_LINE));
  const hold = await next(() => placeHold(core, { team: other.id, reason: "a case" }, COMMAND_LINE));
  const whole = { scope: "team", subject: "", period: "month", amountUsd: 50 } as const;
  const budget = await next(() => setBudget(core, acme.id, whole, COMMAND_LINE));
  await next(() => addIssuer(core, "corp", { issuer: "https://id.example.com", clientId: "reckon" }, COMMAND_LINE));
  await t.instance.settle();
  await catchUp(core, entriesProjection);
  t.clock.advance(1);
  const [error] = t.rows("SELECT lower(hex(substr(fingerprint, 1, 4))) AS class FROM defects ORDER BY id");
  const cliTokenId = t.rows("SELECT id FROM cli_tokens")[0].id as string;
  await t.close();
  const directory = mkdtempSync(join(inject("runFolder"), "everything-"));
  cpSync(t.directory, directory, { recursive: true });
  return {
    directory,
    until: t.clock.now(),
    ...{ acme, other, bob, device, foreign, readTokenId, apiTokenId, cliTokenId, userCode, requests },
    ...{ codeId: code.id, channelId: made.channel.id, holdId: hold.id, budgetId: budget.id },
    errorClass: error.class as string,
  };
}

let kept: ReturnType<typeof makeEverything> | undefined;

/** An instance that listens, by the real clock, on a copy of one with something of everything that commands are about. */
export async function everything() {
  kept ??= makeEverything();
  const { directory: made, until, ...rest } = await kept;
  const directory = newFolder();
  cpSync(made, directory, { recursive: true });
  const t = await startInstance({ directory, settings: { port: "0" } });
  // Each thing was made at an instant of its own, so the last one may be ahead of the clock.
  t.clock.jump(Math.max(Date.now(), until) - t.clock.now());
  return { t, url: await t.instance.listen(), ...rest };
}
export type Everything = Awaited<ReturnType<typeof everything>>;

/** An admin's token, of all teams unless another is asked for. */
export const adminToken = (t: TestInstance, more: Partial<NewApiToken> = {}) =>
  createApiToken(
    t.instance.core,
    {
      ...{ teamId: null, userId: null, name: "ops", scope: "admin", lifetimeMs: 3_600_000 },
      ...more,
    },
    COMMAND_LINE,
  );
