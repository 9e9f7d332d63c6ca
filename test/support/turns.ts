import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isoInstant, SECOND_MS } from "../../src/kit/clock.ts";

/** Transcripts as Claude Code writes them, and work trees that they tell of; for tests and scripts. */

/** As lines of a transcript; a text is taken as it is. */
export const textOf = (records: readonly (object | string)[]): string =>
  records.map((record) => (typeof record === "string" ? record : `${JSON.stringify(record)}\n`)).join("");

export function makeRepository(folder: string, repo: string): void {
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFileSync(join(folder, ".git/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(folder, ".git/config"), `[remote "origin"]\n\turl = https://${repo}.git\n`);
}

export interface TurnOptions {
  readonly session?: string;
  readonly cwd?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly prompt?: string;
  readonly answer?: string;
  readonly command?: string;
  readonly output?: string;
  /** Makes its ids other ones than those of the same number in another session. */
  readonly n: number;
}

/** What Claude Code writes of one turn: a prompt, an answer with a use of a tool, and an edit. Five things that are counted or looked at. */
export function turn({ session = "s1", cwd = "/home/kim/shop", at, n, ...said }: TurnOptions): object[] {
  const id = `${session}-${n}`;
  const record = (k: number, type: "user" | "assistant", content: unknown, more: object = {}) => ({
    ...{ parentUuid: null, isSidechain: false, type, uuid: `${id}-${k}`, timestamp: isoInstant(at + k * SECOND_MS) },
    ...{ sessionId: session, cwd, gitBranch: "main", version: "2.1.330", ...more },
    message: {
      role: type,
      content,
      ...(type === "user"
        ? {}
        : { id: `msg_${id}`, model: "claude-opus-5", usage: { input_tokens: 3, output_tokens: 9 } }),
    },
  });
  const tool = { type: "tool_use", id: `toolu_${id}`, name: "Bash", input: { command: said.command ?? `make ${id}` } };
  const patch = [{ oldStart: n, oldLines: 1, newStart: n, newLines: 1, lines: ["-a", "+b"] }];
  return [
    record(0, "user", said.prompt ?? `Do ${id}`),
    record(1, "assistant", [{ type: "text", text: said.answer ?? `I do ${id}` }]),
    record(2, "assistant", [tool]),
    record(3, "user", [{ type: "tool_result", tool_use_id: tool.id, content: said.output ?? `done ${id}` }], {
      toolUseResult: { filePath: join(cwd, `src/${n % 7}.ts`), structuredPatch: patch },
    }),
  ];
}

/** Several turns of a session. */
export const turns = (session: string, count: number, at: number, from = 0, cwd?: string): object[] =>
  Array.from({ length: count }, (_, i) =>
    turn({ session, n: from + i, at: at + i * 5_000, ...(cwd ? { cwd } : {}) }),
  ).flat();
