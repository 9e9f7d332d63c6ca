import { join } from "node:path";
import { createInstance, type Instance } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import type { Core } from "../../src/core.ts";
import { bindDevice, createCode } from "../../src/identity/devices/devices.ts";
import { setRole, storeMember } from "../../src/identity/members/members.ts";
import { storeUser } from "../../src/identity/people/people.ts";
import { createTeam } from "../../src/identity/teams/teams.ts";
import { storeSession } from "../../src/identity/web-sessions/web-sessions.ts";
import { baseUrlOf } from "../../src/kit/base-url.ts";
import { type Clock, DAY_MS, isoInstant, MINUTE_MS, systemClock } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { cookieNames } from "../../src/platform/http/cookies.ts";
import { ROOT } from "./servers.ts";
import { randomOf, Vocabulary } from "./text.ts";

/** A team of some size with half a year of work, delivered as devices deliver it. */

export interface Size {
  readonly people: number;
  readonly entries: number;
  readonly sessions: number;
  readonly errors: number;
}

export const FULL: Size = { people: 200, entries: 1_000_000, sessions: 50_000, errors: 2_000 };

/** The last day of the record; the pages are asked for at its end. */
const TODAY = Date.UTC(2026, 10, 21, 20);
const DAYS = 180;
const REPOS = 20;
/** Sessions of a delivery are few: people work side by side, and each day's sums are of many of them. */
const BATCH = { entries: 500, sessions: 4 };
/** Steps of the one session that is long. */
const LONG_STEPS = 1_000;
const LONG = "s-long";
const OUTCOMES = ["success", "success", "success", "success", "success", "failure", "partial", ""];
const MODELS = ["claude-opus-4-6", "claude-sonnet-4-5-20250929", "claude-haiku-4-5", "gpt-5.4", "unheard-of-1"];
const AGENTS = ["claude-code", "codex", "gemini-cli"];
const LIMITS = ["limitExchange", "limitTelemetry", "limitBrain", "limitTraces", "limitInflation"] as const;

/** A clock that is set; what takes time in between is timed as ever. */
class SetClock implements Clock {
  at = TODAY - DAYS * DAY_MS;
  now = () => this.at;
  monotonic = systemClock.monotonic;
}

/** Who opens pages: the team's owner, an admin who leads it, and somebody who sees their own alone. */
export const VIEWERS = ["owner", "lead", "own"] as const;
type Viewer = (typeof VIEWERS)[number];
const VIEWER_IDS: Readonly<Record<Viewer, string>> = { owner: personId(0), lead: personId(2), own: personId(1) };

export interface Filled {
  readonly instance: Instance;
  /** The cookie of a session of each viewer. */
  readonly cookies: Readonly<Record<Viewer, string>>;
  /** The number of the session that is long. */
  readonly long: number;
  /** Delivers a session, as happens between any two looks at a page of a team at work. */
  readonly deliver: () => Promise<void>;
}

/** Opens a data directory as of the record's last day. @param build made where the directory is new */
export async function openFilled(directory: string, size: Size, build: boolean): Promise<Filled> {
  // A large database is checked in a process of its own, which is this program started again.
  process.argv[1] = join(ROOT, "src/main.ts");
  const clock = new SetClock();
  const off = Object.fromEntries(LIMITS.map((name) => [name, "off"]));
  const config = readConfig({ ...off, data: directory, port: "0" }, {});
  const instance = await createInstance({ config, clock, random: systemRandom, log: silentLog });
  if (build) await fill(instance, clock, size);
  clock.at = TODAY;
  const { core } = instance;
  const one = (sql: string) => core.store.db.prepare(sql).pluck().get();
  const teamId = one("SELECT id FROM teams ORDER BY created_at LIMIT 1") as string;
  await setRole(core, teamId, VIEWER_IDS.lead, "admin", COMMAND_LINE);
  await setRole(core, teamId, VIEWER_IDS.own, "own_only", COMMAND_LINE);
  const cookieOf = async (viewer: Viewer) => {
    const { token } = await core.store.write(() =>
      storeSession(core, VIEWER_IDS[viewer], { ip: "127.0.0.1", userAgent: "bench" }),
    );
    return `${cookieNames(baseUrlOf(core.config)).session}=${token}`;
  };
  const [words, random] = [new Vocabulary(6_000), randomOf(clock.at)];
  const { code } = await createCode(core, teamId, COMMAND_LINE, undefined, VIEWER_IDS.owner);
  const sender = { token: (await bindDevice(core, code, "1", "another")).deviceToken, seq: 0 };
  const first = one("SELECT max(id) FROM trace_sessions") as number;
  let delivered = 0;
  return {
    instance,
    cookies: { owner: await cookieOf("owner"), lead: await cookieOf("lead"), own: await cookieOf("own") },
    long: one(`SELECT id FROM trace_sessions WHERE external_id = '${LONG}'`) as number,
    deliver: () =>
      post(instance, "/api/agent-traces/ingest", sender, {
        repoKey: repoOf(delivered),
        // As many as there are on any day; then they go on.
        sessions: [sessionOf(first + 1 + (delivered++ % Math.ceil(size.sessions / DAYS)), TODAY, words, random)],
      }),
  };
}

interface Sender {
  readonly token: string;
  seq: number;
}

async function post(instance: Instance, path: string, { token }: Sender, body: unknown): Promise<void> {
  const reply = await instance.fetch(
    new Request(`http://127.0.0.1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  );
  if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
}

async function fill(instance: Instance, clock: SetClock, size: Size): Promise<void> {
  const { core } = instance;
  const senders = await people(core, size.people);
  const words = new Vocabulary(6_000);
  const random = randomOf(7);
  const share = (whole: number, day: number) =>
    Math.floor((whole * (day + 1)) / DAYS) - Math.floor((whole * day) / DAYS);
  let session = 0;
  let turn = 0;
  for (let day = 0; day < DAYS; day++) {
    clock.at = TODAY - (DAYS - 1 - day) * DAY_MS;
    for (let left = share(size.sessions, day); left > 0; left -= BATCH.sessions) {
      const sender = senders[turn++ % senders.length] as Sender;
      const sessions = Array.from({ length: Math.min(left, BATCH.sessions) }, () =>
        sessionOf(session++, clock.at, words, random),
      );
      await post(instance, "/api/agent-traces/ingest", sender, { repoKey: repoOf(turn), sessions });
    }
    for (let left = share(size.entries, day); left > 0; left -= BATCH.entries) {
      const sender = senders[turn++ % senders.length] as Sender;
      const entries = Array.from({ length: Math.min(left, BATCH.entries) }, (_, i) => ({
        seq: ++sender.seq,
        clientTimestamp: isoInstant(clock.at - i * 100),
        payload: { type: "tool_result", sessionId: `s-${session - 1 - (i % 50)}`, text: words.sentence(random) },
      }));
      await post(instance, "/api/telemetry/ingest", sender, { repoKey: "github.com/acme/shop", entries });
    }
    await instance.settle();
  }
  await post(instance, "/api/agent-traces/ingest", senders[0] as Sender, {
    repoKey: repoOf(0),
    sessions: [longSession(clock.at, words, random)],
  });
  for (let repo = 0; repo < REPOS; repo++)
    await post(instance, "/api/brain/ingest", senders[repo % senders.length] as Sender, {
      repoKey: repoOf(repo),
      version: 1,
      files: [
        { path: ".claude/brain/errors.md", content: errorsFile(size.errors / REPOS, words, random) },
        { path: ".claude/brain/decisions.md", content: `# Decisions\n\n${words.sentence(random)}\n` },
      ],
    });
  await instance.settle();
}

function personId(i: number): string {
  return `user-${String(i).padStart(4, "0")}`;
}

const repoOf = (i: number) => `github.com/acme/repo-${i % REPOS}`;

async function people(core: Core, count: number): Promise<Sender[]> {
  const team = await createTeam(core, "Bench", COMMAND_LINE, { tier: "enterprise", seats: count });
  const senders: Sender[] = [];
  for (let i = 0; i < count; i++) {
    const id = personId(i);
    const email = `person${i}@example.com`;
    const owns = i === 0;
    const user = { id, email, emailKey: email, name: `Person ${i}`, createdAt: core.clock.now() };
    await core.store.write(() => {
      storeUser(core, { ...user, passwordHash: null, operator: owns ? 1 : 0, disabledAt: null }, COMMAND_LINE);
      storeMember(core, team.id, user, owns ? "owner" : "member", COMMAND_LINE);
    });
    const { code } = await createCode(core, team.id, COMMAND_LINE, undefined, id);
    const { deviceToken } = await bindDevice(core, code, "1", `laptop-${i}`);
    senders.push({ token: deviceToken, seq: 0 });
  }
  // Real ones are renewed on the way.
  core.store.db.prepare("UPDATE device_tokens SET expires_at = NULL").run();
  return senders;
}

function sessionOf(i: number, at: number, words: Vocabulary, random: () => number) {
  const startedAt = at - Math.floor(random() * 600 * MINUTE_MS);
  const minutes = 1 + Math.floor(random() * 40);
  const model = MODELS[i % MODELS.length];
  const sha = Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, "0")
    .repeat(5);
  return {
    id: `s-${i}`,
    agent: AGENTS[i % AGENTS.length],
    model,
    branch: `topic-${i % 400}`,
    outcome: OUTCOMES[i % OUTCOMES.length],
    startedAt,
    endedAt: startedAt + minutes * MINUTE_MS,
    prompts: [{ at: startedAt, text: words.sentence(random) }],
    files: [`src/${words.pick(random)}.ts`],
    commits: i % 3 === 0 ? [{ sha, at: startedAt + MINUTE_MS }] : [],
    spans: Array.from({ length: 4 }, (_, k) => ({
      id: `span-${k}`,
      name: k % 2 === 0 ? "chat" : "Bash",
      kind: k % 2 === 0 ? "model" : "tool",
      startedAt: startedAt + k * MINUTE_MS,
      endedAt: startedAt + (k + 1) * MINUTE_MS,
      ...(k % 2 === 0
        ? {
            model,
            usage: { id: `msg-${i}-${k}`, input_tokens: 900, output_tokens: 400, cache_read_input_tokens: 60_000 },
          }
        : { input: words.sentence(random), output: words.sentence(random) }),
    })),
  };
}

/** Prompts, answers, commands some of which fail, and edits with their patches. */
function longSession(at: number, words: Vocabulary, random: () => number) {
  const startedAt = at - 300 * MINUTE_MS;
  const after = (step: number) => startedAt + step * 15_000;
  const model = MODELS[0];
  const span = (k: number) => {
    const common = { id: `step-${k}`, startedAt: after(k), endedAt: after(k + 1) };
    if (k % 3 === 0)
      return {
        ...common,
        ...{ name: "chat", kind: "model", model, output: words.paragraph(random, 3) },
        usage: { id: `msg-long-${k}`, input_tokens: 900, output_tokens: 400, cache_read_input_tokens: 60_000 },
      };
    const path = words.path(random);
    if (k % 3 === 1)
      return {
        ...common,
        ...{ name: "Bash", kind: "tool", input: { command: `npx vitest run ${path}` }, output: words.code(random, 20) },
        ...(k % 40 === 1 ? { attributes: { exit_code: 1 } } : {}),
      };
    const [before, now] = [words.code(random, 4), words.code(random, 6)];
    return {
      ...common,
      ...{ name: "Edit", kind: "tool", input: { file_path: path, old_string: before, new_string: now } },
      edits: [{ path, startLine: 10, endLine: 16 }],
    };
  };
  return {
    ...{ id: LONG, agent: AGENTS[0], model, branch: "topic-long", outcome: "success", startedAt },
    endedAt: after(LONG_STEPS + 1),
    prompts: Array.from({ length: 20 }, (_, i) => ({
      at: after((i * LONG_STEPS) / 20),
      text: words.paragraph(random, 2),
    })),
    files: Array.from({ length: 40 }, () => words.path(random)),
    commits: Array.from({ length: 8 }, (_, i) => ({ sha: `${i}abc`.repeat(10), at: after(100 * (i + 1)) })),
    spans: Array.from({ length: LONG_STEPS }, (_, k) => span(k)),
  };
}

/** Half of the entries are of classes that came before. */
function errorsFile(count: number, words: Vocabulary, random: () => number): string {
  return Array.from({ length: count }, (_, i) => {
    const at = TODAY - Math.floor((i / count) * DAYS) * DAY_MS;
    const title = words.sentence(random).slice(0, 80);
    const rule = `Always check rule number ${i % Math.ceil(count / 2)} of the ${words.words[i % 50]}.`;
    return `## ${isoInstant(at).slice(0, 10)} ${title}\n\n${words.sentence(random)}\n\n**Prevention rule:** ${rule}\n\n**Status:** ${i % 20 === 0 ? "open" : "fixed"}`;
  }).join("\n\n");
}
