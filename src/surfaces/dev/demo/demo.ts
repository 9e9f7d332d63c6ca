import { isoInstant, MINUTE_MS } from "../../../kit/clock.ts";
import type { LocalClock } from "../clock.ts";
import type { CreatedTeam } from "../seed.ts";
import type { InstanceHandle } from "../types.ts";
import { publications } from "./brain.ts";
import type { DemoEvent, Send } from "./calendar.ts";
import { REPOS, type Repo } from "./data.ts";
import { accountability } from "./evidence.ts";
import { pack, pulses, requests } from "./public.ts";
import { type DemoSession, demoSessions, runningSession } from "./sessions.ts";
import { AGENT, connectDevices, ownerOf, policyAndPeople, questions, visits } from "./team.ts";
import { DemoStreams } from "./telemetry.ts";
import { triage } from "./triage.ts";

/** Which device publishes a repository's brain. */
const PUBLISHERS: Readonly<Record<Repo, number>> = { shop: 0, parcels: 1, app: 3 };

/**
 * Fills the team with five weeks of work, in the order of time and through the API's own endpoints, so that ledger, streams and
 * audit are what they would be.
 * @param clock frozen; it stands before the first day and is left near `startAt`
 */
export async function demoData(
  instance: InstanceHandle,
  clock: LocalClock,
  team: CreatedTeam,
  startAt: number,
): Promise<void> {
  const { core } = instance;
  const tokens = await connectDevices(core, clock, team, startAt);
  const send: Send = (device, path, body) =>
    call(instance, path, { method: "POST", body: JSON.stringify(body) }, tokens[device] as string, AGENT);
  const ask = (token: string, q: string) =>
    call(instance, `/api/me/brain/context?q=${encodeURIComponent(q)}`, {}, token, "brightloom-editor/0.9");
  const sessions = demoSessions(startAt);
  const all = [
    ...policyAndPeople(core, team, startAt),
    ...brains(send, sessions, startAt),
    ...traces(send, sessions),
    ...new DemoStreams(send).happenings(sessions),
    ...visits(core, team, startAt),
    ...questions(core, team, startAt, ask),
    ...pack(instance, team, ownerOf(team), startAt, () => tokens[1] as string),
    ...requests(instance, ownerOf(team), startAt),
    ...pulses(instance, team, startAt, send),
    ...triage(instance, team, startAt),
    ...accountability(instance, team, ownerOf(team), startAt),
    running(send, startAt),
  ].toSorted((a, b) => a.at - b.at);
  for (const { at, happen } of all) {
    clock.set(Math.min(at, startAt));
    await happen();
  }
}

async function call(
  instance: InstanceHandle,
  path: string,
  init: RequestInit,
  token: string,
  agent: string,
): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "user-agent": agent };
  const answer = await instance.fetch(new Request(`http://127.0.0.1${path}`, { ...init, headers }));
  if (answer.status !== 200)
    throw new Error(`the demo data was refused: ${path} ${answer.status} ${await answer.text()}`);
}

function brains(send: Send, sessions: readonly DemoSession[], startAt: number): DemoEvent[] {
  return (Object.keys(PUBLISHERS) as Repo[]).flatMap((repo) =>
    publications(repo, sessions, startAt).map(({ at, version, files }) => ({
      at,
      happen: () =>
        send(PUBLISHERS[repo], "/api/brain/ingest", {
          version,
          repoKey: REPOS[repo],
          files,
          clientTimestamp: isoInstant(at),
        }),
    })),
  );
}

function traces(send: Send, sessions: readonly DemoSession[]): DemoEvent[] {
  return sessions.map((one) => ({
    at: one.endedAt + MINUTE_MS,
    happen: () =>
      send(one.device, "/api/agent-traces/ingest", {
        repoKey: one.repoKey,
        sessions: [one.document],
        labels: one.labels,
      }),
  }));
}

function running(send: Send, startAt: number): DemoEvent {
  const { device, repoKey, document } = runningSession(startAt);
  return {
    at: startAt - MINUTE_MS / 2,
    happen: () => send(device, "/api/agent-traces/ingest", { repoKey, sessions: [document], labels: [] }),
  };
}
