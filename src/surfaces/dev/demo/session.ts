import { isoInstant, MINUTE_MS, SECOND_MS } from "../../../kit/clock.ts";
import type { readSaid, Task } from "./data.ts";

/** What an agent runs on. */
export interface Model {
  readonly agent: string;
  readonly model: string;
  readonly provider: string;
  /** US dollars a million tokens (input, output), with which the agent itself reports its cost; null when it reports none. */
  readonly price: readonly [number, number] | null;
  /** Times in ten that a session runs on it. */
  readonly share: number;
}

/** Draws a whole number from 0 up to a bound, exclusive. */
export type Roll = (below: number) => number;

/** Attributes of the semantic conventions for a tool's input and output. */
const INPUT = "gen_ai.tool.call.arguments";
const OUTPUT = "gen_ai.tool.call.result";
const ANSWER = "gen_ai.output.messages";
/** Tokens that a conversation may hold; older ones are replaced by a summary. */
const WINDOW = 180_000;
/** Seconds until a model begins to answer. */
const LATENCY = 2;

/** The course of a turn. */
interface Going {
  /** Whether what it runs ends badly. */
  readonly fails: boolean;
  readonly isLast: boolean;
  /** The commit that its edits will be in. */
  readonly sha: string | undefined;
}

/** Writes a session down while it goes on: prompts and spans for its trace, payloads for telemetry. */
export class SessionWriter {
  readonly prompts: Record<string, unknown>[] = [];
  readonly payloads: Record<string, unknown>[] = [];
  /** The time of its clock, milliseconds since the epoch. */
  at: number;
  costUsd = 0;
  readonly #spans: Record<string, unknown>[] = [];
  readonly #id: string;
  readonly #task: Task;
  readonly #model: Model;
  readonly #roll: Roll;
  readonly #said: ReturnType<typeof readSaid>;
  readonly #startedAt: number;
  /** Tokens of the conversation so far, which every call reads again. */
  #context: number;

  constructor(id: string, task: Task, model: Model, startedAt: number, roll: Roll, said: ReturnType<typeof readSaid>) {
    this.#said = said;
    this.#id = id;
    this.#task = task;
    this.#model = model;
    this.#roll = roll;
    this.#startedAt = startedAt;
    this.at = startedAt;
    this.#context = 60_000 + roll(60_000);
  }

  /** A prompt and all that followed from it. */
  turn(prompt: string, { fails, isLast, sha }: Going): void {
    const turn = this.prompts.length;
    // Somebody reads before they answer.
    if (turn > 0) this.at += (2 + this.#roll(8)) * MINUTE_MS;
    const began = this.at;
    const parent = `turn-${turn + 1}`;
    this.prompts.push({ at: isoInstant(began), text: prompt });
    this.at += LATENCY * SECOND_MS;
    this.payloads.push({ type: "prompt", sessionId: this.#id, text: prompt, branch: this.#task.branch });
    const { files, command, branch } = this.#task;
    const [file, other] = [files[turn % files.length], files[(turn + 1) % files.length]] as [string, string];
    this.#chat(parent, 1);
    this.#tool(parent, "Read", { "file.path": file }, 1);
    // Whoever writes the failing test first sees it fail.
    const failure = this.#said.failed[command];
    if (failure !== undefined && !fails && turn === 0) this.#run(parent, command, failure);
    this.#chat(parent, 2);
    for (const path of new Set([file, other])) {
      const startLine = 10 + this.#roll(120);
      const edit = { path, startLine, endLine: startLine + 4 + this.#roll(30), ...(sha ? { commit: sha } : {}) };
      const [before, after] = this.#said.edits[path] ?? [];
      const written =
        before === undefined ? {} : { [INPUT]: { file_path: path, old_string: before, new_string: after } };
      this.#tool(parent, "Edit", { "file.path": path, ...written }, 2 + this.#roll(4), [edit]);
    }
    this.#run(parent, command, fails ? failure : undefined);
    const answer = this.#said.answers[branch];
    this.#chat(parent, 3, isLast && answer !== undefined ? answer : this.#reply(fails));
    const name = `Turn ${turn + 1}`;
    this.#spans.push({ id: parent, parentId: "session", name, kind: "turn", ...span(began, this.at) });
  }

  /** @param failure what it prints when it fails */
  #run(parent: string, command: string, failure: string | undefined): void {
    const passed = 6 + this.#roll(30);
    const fine = command.startsWith("python")
      ? `${passed} passed in ${1 + this.#roll(9)}.${10 + this.#roll(80)}s`
      : ` Test Files  1 passed (1)\n      Tests  ${passed} passed (${passed})`;
    const call = { command, exit_code: failure === undefined ? 0 : 1, [OUTPUT]: failure ?? fine };
    this.#tool(parent, "Bash", call, 30 + this.#roll(200));
  }

  /** A model's last words. */
  #reply(fails: boolean): string {
    const { command, message, files } = this.#task;
    if (fails) return `\`${command}\` still fails. What I changed is in \`${files[0]}\`; I stop here.`;
    return `${message}: done in \`${files[0]}\`, and \`${command}\` passes.`;
  }

  commit(sha: string): void {
    this.payloads.push({ type: "commit", sessionId: this.#id, sha, message: this.#task.message });
  }

  spans(endedAt: number): Record<string, unknown>[] {
    const root = { id: "session", name: this.#model.agent, kind: "session", ...span(this.#startedAt, endedAt) };
    return [root, ...this.#spans];
  }

  /** A call of the model. The same usage goes out with the span and with telemetry, as agents send it; its id shows that it is the same. */
  #chat(parent: string, n: number, answer?: string): void {
    const began = this.at;
    this.at += (15 + this.#roll(120)) * SECOND_MS;
    const { model, provider, price } = this.#model;
    const id = `msg_${this.#id}_${parent}_${n}`;
    const usage = {
      id,
      input_tokens: 3 + this.#roll(900),
      output_tokens: 900 + this.#roll(9_000),
      cache_creation_input_tokens: 4_000 + this.#roll(40_000),
      cache_read_input_tokens: this.#context,
    };
    const { input_tokens: input, output_tokens: output, cache_creation_input_tokens: written } = usage;
    if (price) this.costUsd += ((input + written * 1.25 + this.#context * 0.1) * price[0] + output * price[1]) / 1e6;
    const attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": provider,
      "gen_ai.request.model": model,
      "gen_ai.response.model": model,
      "gen_ai.response.id": id,
      // In the semantic conventions input includes what came from or went to a cache.
      "gen_ai.usage.input_tokens": input + written + this.#context,
      "gen_ai.usage.output_tokens": output,
      "gen_ai.usage.cache_creation.input_tokens": written,
      "gen_ai.usage.cache_read.input_tokens": this.#context,
      ...(answer === undefined ? {} : { [ANSWER]: answer }),
    };
    this.#context = Math.min(WINDOW, this.#context + written + output);
    const name = `chat ${model}`;
    this.#spans.push({
      id: `${parent}-chat-${n}`,
      parentId: parent,
      name,
      kind: "llm",
      ...span(began, this.at),
      usage,
      attributes,
    });
    this.payloads.push({ type: "usage", sessionId: this.#id, model, usage });
  }

  #tool(parent: string, name: string, attributes: object, seconds: number, edits?: readonly object[]): void {
    const began = this.at;
    this.at += seconds * SECOND_MS;
    this.#spans.push({
      id: `${parent}-tool-${this.#spans.length}`,
      parentId: parent,
      name,
      kind: "tool",
      ...span(began, this.at),
      ...(edits ? { edits } : {}),
      attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, ...attributes },
    });
    this.payloads.push({ type: edits ? "edit" : "tool", sessionId: this.#id, tool: name, ...attributes });
  }
}

const span = (from: number, to: number) => ({ startedAt: isoInstant(from), endedAt: isoInstant(to) });
