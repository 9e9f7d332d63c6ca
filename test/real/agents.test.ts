/**
 * Real agents, end to end: each program runs whole turns against a small model on loopback, with no network but its own, and nothing
 * but the hooks that `reckon agent connect` put in place tells the capture client of them. What the server then answers is compared
 * with the truth that the kit knows: usage of each session, and for each line that stands now the prompt and the commit.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { SCRIPT } from "../support/program.ts";

const agents = process.env.RECKON_TEST_AGENTS ?? "";
const kit = process.env.RECKON_TEST_KIT ?? resolve(import.meta.dirname, "../../../shared/kit/agents");
const hasKit = existsSync(join(kit, "run.mjs"));
if (agents === "" || !hasKit)
  process.stderr.write(
    "Tests with real agents skipped: RECKON_TEST_AGENTS names no folder of them, or their kit is absent.\n",
  );

/** A session's turns: the first of it, going on with it, and a fork of it where the agent knows them. */
const FORKS = ["claude-code", "codex", "opencode"];
const AGENTS = ["claude-code", "codex", "gemini-cli", "opencode", "copilot-cli"];
/** Whose hooks may say something to the model when a session begins. */
const BRIEFED = ["claude-code", "codex", "gemini-cli", "copilot-cli"];
const TURN_MS = 120_000;
const OPEN_ERROR = "2026-11-20 Login loop";

interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

interface Turn {
  readonly exitCode: number;
  readonly session: string;
  readonly prompt: string;
  readonly usage: Usage;
  readonly commits: readonly { readonly sha: string }[];
  readonly written: readonly { readonly path: string; readonly added: readonly (readonly [number, number])[] }[];
  /** The file with every request that the model got. */
  readonly modelLog: string;
  readonly out: string;
}

/** Asks the server, behind the turn, for the prompt of each end of what was written: the kit runs it inside the turn's network. */
const ASK = `
import { readFileSync, writeFileSync } from "node:fs";
const { KIT_OUT, RECKON_BASE_URL, RECKON_DEVICE_TOKEN } = process.env;
const { written } = JSON.parse(readFileSync(KIT_OUT + "/report.json", "utf8"));
const ask = async (path) =>
  (await fetch(RECKON_BASE_URL + path, { headers: { authorization: "Bearer " + RECKON_DEVICE_TOKEN } })).json();
const places = written.flatMap(({ path, added }) => added.flat().map((line) => [path, line]));
let same = 0;
let before = "";
for (let tries = 0; tries < 200 && same < 12; tries++) {
  const lines = [];
  for (const [path, line] of places) {
    const { matches } = await ask("/api/prompt-for-line?path=" + encodeURIComponent(path) + "&line=" + line);
    lines.push(matches[0] ?? null);
  }
  const { groups } = await ask("/api/spend?by=session");
  const answers = JSON.stringify({ lines, groups });
  writeFileSync(KIT_OUT + "/answers.json", answers);
  const { session, commits } = JSON.parse(readFileSync(KIT_OUT + "/report.json", "utf8"));
  const head = commits.at(-1)?.sha;
  const isThere = lines.every((match) => match?.sessionId === session && match.commit === head);
  // Until nothing more comes: what a turn cost is written down last.
  same = isThere && answers === before ? same + 1 : 0;
  before = answers;
  await new Promise((done) => setTimeout(done, 250));
}
`;

class Machine {
  readonly #agent: string;
  readonly #folder: string;
  /** The program under test. */
  readonly reckon: string;
  #turns = 0;

  constructor(agent: string) {
    this.#agent = agent;
    this.#folder = mkdtempSync(join(tmpdir(), "reckon-agents-"));
    onTestFinished(() => rmSync(this.#folder, { recursive: true, force: true }));
    mkdirSync(join(this.#folder, "bin"));
    this.reckon = join(this.#folder, "bin", "reckon");
    writeFileSync(this.reckon, SCRIPT, { mode: 0o755 });
    writeFileSync(join(this.#folder, "ask.mjs"), ASK);
  }

  /** Writes a scenario of turns that the kit has, and of others. @returns its file */
  scenario(name: string, ...turns: readonly unknown[]): string {
    const file = join(this.#folder, `${name}.json`);
    writeFileSync(file, JSON.stringify({ name, turns }));
    return file;
  }

  /** Plays a turn, and waits until the server tells of it. */
  async turn(scenario: string, ...how: string[]): Promise<Turn & { readonly answers: Answers }> {
    const reckon = this.reckon;
    const connect = `${reckon} agent connect "$RECKON_BASE_URL" "$RECKON_CONNECT_CODE" --agents ${this.#agent} --yes --json >"$KIT_OUT/connect.json"`;
    const args = [
      ...["run.mjs", this.#agent, "--scenario", scenario],
      ...["--home", join(this.#folder, "home"), "--work", join(this.#folder, "work"), ...how],
      ...["--with", `${reckon} dev --port 4870 --empty --data "$HOME/server" --write-env "$KIT_OUT/reckon.env"`],
      ...["--ready", "http://127.0.0.1:4870/api/health", "--vars", "reckon.env"],
      ...(this.#turns++ === 0 ? ["--before", connect] : []),
      ...["--after", `'${process.execPath}' ${join(this.#folder, "ask.mjs")}`],
    ];
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, RECKON_TEST_AGENTS: agents };
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: kit,
      env,
      maxBuffer: 64 * 1024 * 1024,
    });
    const turn = JSON.parse(stdout) as Turn;
    return { ...turn, answers: JSON.parse(readFileSync(join(turn.out, "answers.json"), "utf8")) as Answers };
  }
}

const turnsOf = (scenario: string): readonly unknown[] =>
  JSON.parse(readFileSync(join(kit, "scenarios", `${scenario}.json`), "utf8")).turns;

/** Notes an open error in the brain of the repository, and waits until the briefing with it lies ready. */
const noteError = (reckon: string) =>
  `mkdir -p .claude/brain && printf '## ${OPEN_ERROR}\\n\\nIt broke.\\n\\n**Status:** open\\n' >.claude/brain/errors.md &&
  git add .claude && git -c user.name=kim -c user.email=kim@example.com commit -qm 'Note an error' &&
  for i in $(seq 100); do ${reckon} agent run >/dev/null; ${reckon} agent briefing | grep -q 'Login loop' && exit 0; sleep 0.2; done; exit 1`;

interface Answers {
  readonly lines: readonly ({
    readonly sessionId: string;
    readonly prompt: string;
    readonly commit: string | null;
  } | null)[];
  readonly groups: readonly {
    readonly key: string;
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly cacheReadTokens: number;
    readonly cacheWriteTokens: number;
  }[];
}

/** Demands that the server's answers are the truth of all turns so far. */
function expectTruth(turns: readonly (Turn & { readonly answers: Answers })[]): void {
  const last = turns.at(-1);
  expect(last?.answers.lines).not.toEqual([]);
  for (const match of last?.answers.lines ?? [])
    expect(match).toMatchObject({ sessionId: last?.session, prompt: last?.prompt, commit: last?.commits.at(-1)?.sha });
  const sums = Map.groupBy(turns, ({ session }) => session);
  const sum = (of: readonly Turn[], member: keyof Usage) => of.reduce((total, { usage }) => total + usage[member], 0);
  const expected = [...sums].map(([key, of]) => ({
    key,
    inputTokens: sum(of, "input"),
    outputTokens: sum(of, "output"),
    cacheReadTokens: sum(of, "cacheRead"),
    cacheWriteTokens: sum(of, "cacheWrite"),
  }));
  const told = (last?.answers.groups ?? []).map(
    ({ key, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }) => ({
      ...{ key, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens },
    }),
  );
  expect(told.toSorted((a, b) => a.key.localeCompare(b.key))).toEqual(
    expected.toSorted((a, b) => a.key.localeCompare(b.key)),
  );
}

describe.each(AGENTS)("%s, as it is", (agent) => {
  const isHere = hasKit && agents !== "" && existsSync(join(agents, agent, "node_modules"));

  it.skipIf(!isHere)(
    "has its prompts, lines, commits and tokens on the server through resume and fork",
    async () => {
      const machine = new Machine(agent);
      const first = await machine.turn("edit-and-commit");
      expectTruth([first]);
      const second = await machine.turn("edit-and-commit", "--resume", first.session, "--turn", "2");
      expectTruth([first, second]);
      if (!FORKS.includes(agent)) return;
      const third = await machine.turn("edit-and-commit", "--fork", first.session, "--turn", "3");
      expectTruth([first, second, third]);
    },
    3 * TURN_MS,
  );

  it.skipIf(!isHere || agent !== "claude-code")(
    "has the same on the server after its history was compacted",
    async () => {
      const machine = new Machine(agent);
      const [first, second] = turnsOf("edit-and-commit");
      const compact = { prompt: "/compact", steps: [], answer: "<summary>A greeting was added.</summary>" };
      const scenario = machine.scenario("compact", first, compact, second);
      const before = await machine.turn(scenario);
      await machine.turn(scenario, "--resume", before.session, "--turn", "2");
      const after = await machine.turn(scenario, "--resume", before.session, "--turn", "3");
      // No record of the transcript states what compacting itself cost.
      expectTruth([before, after]);
    },
    3 * TURN_MS,
  );

  it.skipIf(!isHere || !BRIEFED.includes(agent))(
    "gives its model the repository's briefing",
    async () => {
      const machine = new Machine(agent);
      // Codex calls no hook that nobody has trusted: with a hook of the kit's own, it is told to trust them all.
      const trust = agent === "codex" ? ["--hook", "true"] : [];
      const first = await machine.turn("edit-and-commit", "--after", noteError(machine.reckon), ...trust);
      expect(readFileSync(first.modelLog, "utf8")).not.toContain(OPEN_ERROR);
      const second = await machine.turn("fail-then-fix", ...trust);
      const requests = readFileSync(second.modelLog, "utf8").trimEnd().split("\n");
      expect(requests.filter((request) => request.includes(OPEN_ERROR)).length).toBeGreaterThan(0);
      expectTruth([first, second]);
    },
    2 * TURN_MS,
  );

  it.skipIf(!isHere)(
    "shows a failed check, and the edit that fixed it",
    async () => {
      const turn = await new Machine(agent).turn("fail-then-fix");
      expectTruth([turn]);
    },
    TURN_MS,
  );
});
