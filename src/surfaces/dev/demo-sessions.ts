import { isoInstant, MINUTE_MS, SECOND_MS } from "../../kit/clock.ts";
import { seededRandom } from "../../kit/random.ts";
import { workday } from "./demo-calendar.ts";
import { drawModel } from "./demo-models.ts";
import { type Roll, SessionWriter } from "./demo-session.ts";
import { type PlannedSession, REPOS, type Repo, TASKS, type Task } from "./demo-tasks.ts";

/** The sessions of the demo team's agents over four weeks: the same every time but for the instant they lead up to. */

const HOUR_MS = 60 * MINUTE_MS;
/** When the sessions of a day begin (UTC), the first, the second, and so on. */
const HOURS = [7.5, 10.5, 13.5] as const;
/** A session may begin so much later. */
const LATEST_MINUTES = 100;
/** Those of the start's own day begin so long before it. */
const TODAY = [170, 110, 60] as const;

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
  /** Payloads of the telemetry that tells of it. */
  readonly payloads: readonly Readonly<Record<string, unknown>>[];
}

type Planned = PlannedSession & { readonly task: Task & { readonly repo: Repo } };

/** All sessions, the earliest first. @param startAt the instant that they lead up to */
export function demoSessions(startAt: number): DemoSession[] {
  const random = seededRandom("demo sessions");
  const roll: Roll = (below) => random(4).readUInt32BE() % below;
  const planned = TASKS.flatMap((task) => task.sessions.map((one): Planned => ({ ...one, task }))).toSorted(
    (a, b) => b.on - a.on,
  );
  const sessions = planned.map((one, n) => {
    const nth = n - planned.findIndex(({ on }) => on === one.on);
    const startedAt = beginning(startAt, one.on, nth) + (one.on === 0 ? 0 : roll(LATEST_MINUTES * 60) * SECOND_MS);
    return makeSession(`demo-${String(n + 1).padStart(3, "0")}`, one, startedAt, roll, random(20));
  });
  return sessions.toSorted((a, b) => a.startedAt - b.startedAt);
}

function beginning(startAt: number, on: number, nth: number): number {
  if (on === 0) return startAt - (TODAY[nth] as number) * MINUTE_MS;
  return workday(startAt, on) + (HOURS[nth] as number) * HOUR_MS;
}

function makeSession(
  id: string,
  { task, outcome, prompts }: Planned,
  startedAt: number,
  roll: Roll,
  commitBytes: Buffer,
): DemoSession {
  const model = drawModel(roll);
  const sha = outcome === "success" || outcome === "partial" ? commitBytes.toString("hex") : undefined;
  const write = new SessionWriter(id, task, model, startedAt, roll);
  for (const prompt of prompts) write.turn(prompt, outcome === "failure", sha);
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
