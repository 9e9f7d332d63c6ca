/**
 * Real agents, end to end: each program runs a whole turn against a small model on loopback and exports what it does by its own
 * OpenTelemetry, with no hook and no client. What the server then says that the session used is compared with the truth that the kit knows.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import Sqlite from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { SCRIPT } from "../support/program.ts";

const agents = process.env.RECKON_TEST_AGENTS ?? "";
const kit = process.env.RECKON_TEST_KIT ?? resolve(import.meta.dirname, "../../../shared/kit/agents");
const hasKit = existsSync(join(kit, "run.mjs"));
if (agents === "" || !hasKit)
  process.stderr.write(
    "Tests of real agents' OTLP skipped: RECKON_TEST_AGENTS names no folder, or the kit is absent.\n",
  );

const TURN_MS = 120_000;

/** opencode ends without sending what its batch still holds, so it has to send at once. */
const CASES = [
  ["claude-code", []],
  ["claude-code", ["--env", "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"]],
  ["codex", []],
  ["gemini-cli", []],
  ["copilot-cli", []],
  ["opencode", ["--env", "OTEL_BSP_SCHEDULE_DELAY=200"]],
] as const;

/** Asks for what sessions used until nothing changes any more: the capture client tells behind the turn. */
const ASK = `
import { writeFileSync } from "node:fs";
const { KIT_OUT, RECKON_BASE_URL, RECKON_DEVICE_TOKEN } = process.env;
const headers = { authorization: "Bearer " + RECKON_DEVICE_TOKEN };
let before = "";
for (let same = 0, tries = 0; same < 12 && tries < 200; tries++) {
  const answer = await (await fetch(RECKON_BASE_URL + "/api/spend?by=session", { headers })).text();
  same = answer === before ? same + 1 : 0;
  before = answer;
  await new Promise((done) => setTimeout(done, 250));
}
writeFileSync(KIT_OUT + "/spend.json", before);
const repos = await (await fetch(RECKON_BASE_URL + "/api/spend?by=repo", { headers })).text();
writeFileSync(KIT_OUT + "/repos.json", repos);
`;

/**
 * Plays one turn of an agent beside a server.
 * @param isCaptured the capture client reads its transcript as well, with a token of its own
 * @returns the kit's report with what the server says of spend by session and by repository, how each session was told of, and how many count
 */
async function play(agent: string, how: readonly string[], isCaptured: boolean) {
  const folder = mkdtempSync(join(tmpdir(), "reckon-otlp-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  const reckon = join(folder, "reckon");
  writeFileSync(reckon, SCRIPT, { mode: 0o755 });
  writeFileSync(join(folder, "ask.mjs"), ASK);
  const connect = `${reckon} agent connect "$RECKON_BASE_URL" "$RECKON_CONNECT_CODE" --agents ${agent} --yes --json >"$KIT_OUT/connect.json"`;
  const args = [
    ...[
      "run.mjs",
      agent,
      "--scenario",
      "fail-then-fix",
      "--home",
      join(folder, "home"),
      "--work",
      join(folder, "work"),
    ],
    ...["--with", `${reckon} dev --port 4870 --empty --data "$HOME/server" --write-env "$KIT_OUT/reckon.env"`],
    ...["--ready", "http://127.0.0.1:4870/api/health", "--vars", "reckon.env"],
    ...["--otlp", "http://127.0.0.1:4870", "--token", "$RECKON_DEVICE_TOKEN", "--settle", "2", ...how],
    ...(isCaptured ? ["--before", connect, "--after", `${reckon} agent run`] : []),
    ...["--after", `'${process.execPath}' ${join(folder, "ask.mjs")}`],
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: kit, maxBuffer: 64 * 1024 * 1024 });
  const turn = JSON.parse(stdout);
  const answer = (name: string) => JSON.parse(readFileSync(join(turn.out, `${name}.json`), "utf8"));
  const db = new Sqlite(join(folder, "home", "server", "reckon.db"), { readonly: true });
  const sessions = db.prepare("SELECT exported FROM trace_sessions ORDER BY exported").pluck().all();
  const counted = db.prepare("SELECT sum(sessions) FROM trace_session_days").pluck().get();
  db.close();
  return { turn, spend: answer("spend"), repos: answer("repos"), sessions, counted };
}

describe.skipIf(!hasKit).each(CASES)("%s with its own OpenTelemetry %j", (agent, how) => {
  it.skipIf(!existsSync(join(agents, agent))).each([
    ["alone", false],
    ["and the capture client at once", true],
  ])(
    "uses what the kit knows that it used: %s",
    async (_, isCaptured) => {
      const { turn, spend, repos, sessions, counted } = await play(agent, how, isCaptured);
      expect(turn.usage.calls).toBe(6);
      // opencode has its session's title written in the same session, of which it tells over OTLP alone.
      const both = agent === "opencode" && !isCaptured ? [turn.usage, turn.sideUsage] : [turn.usage];
      const sum = (name: string) => both.reduce((total, usage) => total + usage[name], 0);
      const [calls, input, output] = ["calls", "input", "output"].map(sum);
      const [cacheRead, cacheWrite] = ["cacheRead", "cacheWrite"].map(sum);
      expect(spend.groups).toMatchObject([
        {
          key: turn.session,
          usages: calls,
          inputTokens: input,
          outputTokens: output,
          cacheReadTokens: cacheRead,
          cacheWriteTokens: cacheWrite,
        },
      ]);
      expect(repos.groups).toMatchObject([{ key: isCaptured ? "git.example.com/acme/kit" : "", usages: calls }]);
      // Two devices report it, and one session counts.
      expect([sessions, counted]).toEqual([isCaptured ? [0, 2] : [1], 1]);
    },
    TURN_MS,
  );
});
