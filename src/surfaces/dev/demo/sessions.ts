import { HOUR_MS, isoInstant, MINUTE_MS, SECOND_MS } from "../../../kit/clock.ts";
import { seededRandom } from "../../../kit/random.ts";
import { workday } from "./calendar.ts";
import { type PlannedSession, REPOS, type Repo, readSaid, readTasks, type Task } from "./data.ts";
import { type Model, type Roll, SessionWriter } from "./session.ts";

/** The sessions of the demo team's agents over five weeks. They are the same every time, except for the instant that they lead up to. */

/** When the sessions of a day begin (UTC), the first, the second, and so on. */
const HOURS = [7.5, 10.5, 13.5] as const;
/** Minutes by which a session may begin later. */
const LATEST_MINUTES = 100;
/** Minutes before the start at which the sessions of its own day begin. */
const TODAY = [170, 110, 60] as const;
/** Minutes between the machines of a team. */
const APART = 7;

/** What the demo team's agents run on. */
const MODELS: readonly Model[] = [
  { agent: "claude-code", model: "claude-sonnet-4-6", provider: "anthropic", price: [3, 15], share: 4 },
  { agent: "claude-code", model: "claude-opus-4-7", provider: "anthropic", price: [5, 25], share: 2 },
  { agent: "codex", model: "gpt-5.3-codex", provider: "openai", price: null, share: 2 },
  { agent: "gemini-cli", model: "gemini-3.1-pro-preview", provider: "gcp.gemini", price: null, share: 1 },
  // A model of one's own, which no price table knows.
  { agent: "opencode", model: "brightloom-coder-30b", provider: "self-hosted", price: null, share: 1 },
];

const DRAWN = MODELS.flatMap((model) => Array<Model>(model.share).fill(model));

export interface DemoSession {
  readonly id: string;
  readonly device: number;
  readonly repo: Repo;
  readonly branch: string;
  readonly repoKey: string;
  readonly startedAt: number;
  readonly endedAt: number;
  /** The commit that it made, if it made one. */
  readonly sha: string | undefined;
  /** As it is sent. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly labels: readonly Readonly<Record<string, unknown>>[];
  /** Payloads of the telemetry about it. */
  readonly payloads: readonly Readonly<Record<string, unknown>>[];
}

type Planned = PlannedSession & { readonly task: Task & { readonly repo: Repo } };

/** All sessions, the earliest first. @param startAt the instant that they lead up to */
export function demoSessions(startAt: number): DemoSession[] {
  const random = seededRandom("demo sessions");
  const roll: Roll = (below) => random(4).readUInt32BE() % below;
  const said = readSaid();
  const planned = readTasks()
    .flatMap((task) => task.sessions.map((session): Planned => ({ ...session, task })))
    .toSorted((a, b) => b.on - a.on);
  const sessions = planned.map((one, n) => {
    const { device } = one.task;
    const nth = planned.slice(0, n).filter(({ on, task }) => on === one.on && task.device === device).length;
    const later = one.on === 0 ? device * APART * MINUTE_MS : roll(LATEST_MINUTES * 60) * SECOND_MS;
    const startedAt = beginning(startAt, one.on, nth) + later;
    const name = `demo-${String(n + 1).padStart(3, "0")}`;
    return makeSession({ name, startedAt, said }, one, roll, random(20));
  });
  return sessions.toSorted((a, b) => a.startedAt - b.startedAt);
}

function beginning(startAt: number, on: number, nth: number): number {
  if (on === 0) return startAt - (TODAY[nth] as number) * MINUTE_MS;
  return workday(startAt, on) + (HOURS[nth] as number) * HOUR_MS;
}

interface Begun {
  readonly name: string;
  readonly startedAt: number;
  readonly said: ReturnType<typeof readSaid>;
}

function makeSession(
  { name: id, startedAt, said }: Begun,
  { task, outcome, prompts }: Planned,
  roll: Roll,
  commitBytes: Buffer,
): DemoSession {
  const model = DRAWN[roll(DRAWN.length)] as Model;
  const sha = outcome === "success" || outcome === "partial" ? commitBytes.toString("hex") : undefined;
  const write = new SessionWriter(id, task, model, startedAt, roll, said);
  for (const [i, prompt] of prompts.entries())
    write.turn(prompt, { fails: outcome === "failure", isLast: i === prompts.length - 1, sha });
  const endedAt = write.at + (20 + roll(40)) * SECOND_MS;
  if (sha) write.commit(sha);
  const document = {
    id,
    outcome,
    agent: model.agent,
    model: model.model,
    branch: task.branch,
    startedAt: isoInstant(startedAt),
    endedAt: isoInstant(endedAt),
    prompts: write.prompts,
    files: task.files,
    commits: sha ? [{ sha, at: isoInstant(endedAt - 15 * SECOND_MS) }] : [],
    ...(model.price ? { costUsd: Math.round(write.costUsd * 10_000) / 10_000 } : {}),
    spans: write.spans(endedAt),
  };
  return {
    id,
    device: task.device,
    repo: task.repo,
    branch: task.branch,
    repoKey: REPOS[task.repo],
    startedAt,
    endedAt,
    sha,
    document,
    labels: labelsOf(id, outcome, roll),
    payloads: write.payloads,
  };
}

function labelsOf(sessionId: string, outcome: string, roll: Roll): Record<string, unknown>[] {
  const labels: Record<string, unknown>[] = [];
  if (outcome !== "abandoned")
    labels.push({ sessionId, name: "tests", value: outcome === "failure" ? "failed" : "passed" });
  if (roll(3) === 0)
    labels.push({
      sessionId,
      name: "review",
      value: outcome === "success" ? "good" : "needs work",
      comment: outcome === "success" ? "Small, and the test shows why." : "Right place, but it fixes the symptom.",
    });
  return labels;
}

/** The session that goes on while somebody looks: the last of a task, without an end or an outcome. */
export function runningSession(startAt: number): Pick<DemoSession, "device" | "repoKey" | "document"> {
  const random = seededRandom("demo running");
  const roll: Roll = (below) => random(4).readUInt32BE() % below;
  const task = readTasks().find(({ branch }) => branch === "fix/facet-counts") as Task & { readonly repo: Repo };
  const [model] = MODELS as [Model];
  const write = new SessionWriter("demo-running", task, model, startAt - 9 * MINUTE_MS, roll, readSaid());
  write.turn("Count a facet without its own filter, and say in the test why.", {
    fails: false,
    isLast: true,
    sha: undefined,
  });
  const { prompts } = write;
  const spans = write.spans(startAt).filter(({ startedAt, endedAt, kind }) => {
    const ends = kind === "session" || kind === "turn" ? startedAt : endedAt;
    return Date.parse(`${ends}`) < startAt;
  });
  const document = {
    id: "demo-running",
    outcome: "",
    agent: model.agent,
    model: model.model,
    branch: task.branch,
    startedAt: isoInstant(startAt - 9 * MINUTE_MS),
    prompts,
    files: task.files,
    spans: spans.map(({ endedAt, ...one }) =>
      one.kind === "session" || one.kind === "turn" ? one : { ...one, endedAt },
    ),
  };
  return { device: task.device, repoKey: REPOS[task.repo], document };
}
