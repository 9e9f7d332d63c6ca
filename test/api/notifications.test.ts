import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { signIn } from "../../src/identity/sign-in/authenticate.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import {
  eventsFor,
  messagesOf,
  pauseChannel,
  removeChannel,
  rotateSecret,
  sendAgain,
  testChannel,
} from "../../src/share/notifications/notifications.ts";
import { sendingJob } from "../../src/share/notifications/send.ts";
import { startInstance, startWithDevice, TestClock, type TestInstance } from "../support/instance.ts";
import { addChannel, arrived, startSending, startWithReceiver } from "../support/notifications.ts";
import { type Received, type Receiver, startReceiver } from "../support/receiver.ts";

const TEAM_EVENTS = eventsFor("team");

const verified = (secret: string, { body, headers }: Received, now: number) => {
  // The package reads the time of the machine; the signature is over what stands in the header.
  const {
    "webhook-id": id,
    "webhook-timestamp": at,
    "webhook-signature": signatures,
  } = headers as Record<string, string>;
  const known = String(signatures).split(" ");
  expect(Math.abs(Number(at) * 1000 - now)).toBeLessThan(SECOND_MS);
  return known.includes(new Webhook(secret).sign(`${id}`, new Date(Number(at) * 1000), body));
};

const telemetry = (t: TestInstance, token: string, seqs: readonly number[], repoKey = "acme/shop", n = 0) =>
  t.post("/api/telemetry/ingest", {
    token,
    json: { repoKey, entries: seqs.map((seq) => ({ seq, payload: { seq, n, text: "prompt words" } })) },
  });

const brain = (t: TestInstance, token: string, version: number, content: string, name = "errors") =>
  t.post("/api/brain/ingest", {
    token,
    json: { version, repoKey: "acme/shop", files: [{ path: `.claude/brain/${name}.md`, content }] },
  });

const types = (received: readonly Received[]) => received.map(({ json }) => json.type).sort();

/** A channel that hears of gaps, and has heard of one. */
async function gapArrived(receiver: Awaited<ReturnType<typeof startReceiver>>) {
  const t = await startSending([receiver]);
  const { token, team } = await t.device();
  const { channel } = await addChannel(t, receiver, team.id, ["gap"]);
  await telemetry(t, token, [1]);
  await telemetry(t, token, [3]);
  await arrived(receiver, 1);
  return { t, token, channel };
}

/** Sends word of a gap, which its receiver refuses at first. @returns its channel, and the message as it is now */
async function refusedGap(t: TestInstance, receiver: Awaited<ReturnType<typeof startReceiver>>) {
  const { token, team } = await t.device();
  const { channel } = await addChannel(t, receiver, team.id, ["gap"]);
  await telemetry(t, token, [1]);
  await telemetry(t, token, [3]);
  const message = () => messagesOf(t.instance.core, channel.id, 1)[0];
  await expect.poll(() => message()?.outcome).toMatch("500");
  return { channel, message };
}

describe("webhooks", () => {
  it("tell of a gap, signed so that the package of Standard Webhooks verifies it, and of nothing that was said", async () => {
    const { receiver, t } = await startWithReceiver({ settings: { baseUrl: "https://reckon.example.com" } });
    const { token, team, deviceId } = await t.device();
    const { channel, secret } = await addChannel(t, receiver, team.id, ["gap"]);
    await telemetry(t, token, [1]);
    await telemetry(t, token, [5]);
    const [first] = await arrived(receiver, 1);
    expect(first?.json).toEqual({
      type: "gap",
      timestamp: new Date(t.clock.now()).toISOString(),
      data: {
        event: expect.stringMatching(/^evt_/),
        team: team.id,
        delivery: expect.any(Number),
        kind: "telemetry",
        device: deviceId,
        repo: "acme/shop",
        url: "https://reckon.example.com/telemetry",
      },
    });
    expect(first?.body).not.toContain("prompt words");
    expect(verified(secret as string, first as Received, t.clock.now())).toBe(true);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(first?.headers["webhook-id"]).toMatch(/^msg_/);
    await expect.poll(() => messagesOf(t.instance.core, channel.id, 10)[0]?.state).toBe("delivered");
    expect(messagesOf(t.instance.core, channel.id, 10)).toMatchObject([
      { type: "gap", state: "delivered", tries: 1, dueAt: null, outcome: "204 No Content", count: 1 },
    ]);
  });

  it("tell of rollbacks, new and recurring errors, and sessions that failed, each once", async () => {
    const { receiver, t } = await startWithReceiver();
    const { token, team } = await t.device();
    await addChannel(t, receiver, team.id, TEAM_EVENTS);
    await telemetry(t, token, [1]);
    await telemetry(t, token, [1], "acme/shop", 1);
    const entry = (date: string, title: string) =>
      `## ${date} ${title}\n\nIt broke.\n\n**Prevention rule:** round once.\n\n`;
    await brain(t, token, 1, entry("2026-11-20", "Off by a cent"));
    await t.instance.settle();
    await brain(t, token, 2, entry("2026-11-21", "Off by two") + entry("2026-11-20", "Off by a cent"));
    await t.instance.settle();
    await brain(t, token, 3, "## 2026-11-21 Anybody may sign in\n\nThere was no lock.\n", "security");
    await t.instance.settle();
    expect(t.count("defects")).toBe(1);
    const session = (outcome: string) => ({
      sessions: [{ id: "s1", outcome, agent: "claude-code", startedAt: "2026-11-21T07:00:00Z", spans: [] }],
    });
    for (const outcome of ["running", "failed", "error"])
      await t.post("/api/agent-traces/ingest", { token, json: session(outcome) });
    const received = await arrived(receiver, 4);
    expect(types(received)).toEqual(["defect.new", "defect.recurred", "rollback", "session.failed"]);
    const of = (type: string) => received.find(({ json }) => json.type === type)?.json.data;
    expect(of("defect.recurred")).toMatchObject({ title: "Off by two", occurrences: 2, repo: "acme/shop" });
    expect(of("defect.recurred").url).toMatch(/\/errors\/2$/);
    expect(of("session.failed")).toMatchObject({ outcome: "failed", agent: "claude-code", session: 1 });
    expect(of("session.failed").url).toMatch(/\/sessions\/1$/);
  });

  it("are not sent for old entries and sessions that a brain or an agent brings", async () => {
    const { receiver, t } = await startWithReceiver();
    const { token, team } = await t.device();
    await addChannel(t, receiver, team.id, TEAM_EVENTS);
    await brain(t, token, 1, "## 2026-08-01 Old\n\nIt broke.\n");
    await t.post("/api/agent-traces/ingest", {
      token,
      json: { sessions: [{ id: "s1", outcome: "failed", startedAt: "2026-10-01T07:00:00Z", spans: [] }] },
    });
    await t.instance.settle();
    expect(t.count("notices")).toBe(0);
  });

  it("of one team never tell of another", async () => {
    const [ours, theirs, all] = [await startReceiver(), await startReceiver(), await startReceiver()];
    const t = await startSending([ours, theirs, all]);
    const [a, b] = [await t.device(), await t.device()];
    await addChannel(t, ours, a.team.id, TEAM_EVENTS);
    await addChannel(t, theirs, b.team.id, TEAM_EVENTS);
    await addChannel(t, all, null, eventsFor(null));
    for (const seq of [1, 5, 9]) await telemetry(t, a.token, [seq]);
    await telemetry(t, b.token, [1]);
    await telemetry(t, b.token, [3]);
    await arrived(all, 3);
    expect((await arrived(ours, 2)).map(({ json }) => json.data.team)).toEqual([a.team.id, a.team.id]);
    expect((await arrived(theirs, 1)).map(({ json }) => json.data.team)).toEqual([b.team.id]);
  });

  it("are not sent, nor noted, where RECKON_OUTBOUND lists nothing", async () => {
    const receiver = await startReceiver();
    const { t, token, team } = await startWithDevice();
    const { channel } = await addChannel(t, receiver, team.id, TEAM_EVENTS);
    await telemetry(t, token, [1]);
    await telemetry(t, token, [5]);
    const outcome = await testChannel(t.instance.core, channel.id, COMMAND_LINE);
    expect(outcome).toMatchObject({ delivered: false, text: `RECKON_OUTBOUND does not list ${receiver.host}.` });
    expect([t.count("notices"), receiver.connections]).toEqual([0, 0]);
  });

  it("are signed with both secrets while one is being replaced, for a day", async () => {
    const { receiver, t } = await startWithReceiver();
    const { token, team } = await t.device();
    const { channel, secret: first } = await addChannel(t, receiver, team.id, ["gap"]);
    const second = await rotateSecret(t.instance.core, { id: channel.id, by: COMMAND_LINE });
    await telemetry(t, token, [1]);
    await telemetry(t, token, [3]);
    const [both] = (await arrived(receiver, 1)) as [Received];
    expect(`${both.headers["webhook-signature"]}`.split(" ")).toHaveLength(2);
    for (const secret of [first as string, second]) expect(verified(secret, both, t.clock.now())).toBe(true);
    t.clock.advance(DAY_MS);
    await telemetry(t, token, [5]);
    const [, one] = (await arrived(receiver, 2)) as [Received, Received];
    expect(`${one.headers["webhook-signature"]}`.split(" ")).toHaveLength(1);
    expect([verified(first as string, one, t.clock.now()), verified(second, one, t.clock.now())]).toEqual([
      false,
      true,
    ]);
  });

  it("are signed with the earlier secret as well when its replacement got lost and is replaced again", async () => {
    const { receiver, t } = await startWithReceiver();
    const { token, team } = await t.device();
    const { channel, secret: installed } = await addChannel(t, receiver, team.id, ["gap"]);
    const lost = await rotateSecret(t.instance.core, { id: channel.id, by: COMMAND_LINE });
    t.clock.advance(HOUR_MS);
    const second = await rotateSecret(t.instance.core, { id: channel.id, by: COMMAND_LINE });
    await telemetry(t, token, [1]);
    await telemetry(t, token, [3]);
    const [sent] = (await arrived(receiver, 1)) as [Received];
    for (const secret of [installed as string, lost, second]) expect(verified(secret, sent, t.clock.now())).toBe(true);
    // However often it is replaced, the header stays short; a day later only the last secret signs.
    for (let i = 0; i < 4; i++) await rotateSecret(t.instance.core, { id: channel.id, by: COMMAND_LINE });
    await telemetry(t, token, [5]);
    const [, many] = (await arrived(receiver, 2)) as [Received, Received];
    t.clock.advance(DAY_MS);
    await telemetry(t, token, [7]);
    const [, , last] = (await arrived(receiver, 3)) as [Received, Received, Received];
    const signatures = ({ headers }: Received) => `${headers["webhook-signature"]}`.split(" ").length;
    expect([signatures(many), signatures(last)]).toEqual([4, 1]);
  });
});

describe("a message that is not accepted", () => {
  it("is tried at 0, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 24 h, and then given up and shown", async () => {
    const receiver = await startReceiver();
    receiver.answer = (_, response) => response.writeHead(503).end("down");
    const t = await startSending([receiver]);
    const { token, team } = await t.device();
    const { channel } = await addChannel(t, receiver, team.id, ["gap"]);
    await telemetry(t, token, [1]);
    await telemetry(t, token, [3]);
    const began = t.clock.now();
    const message = () => messagesOf(t.instance.core, channel.id, 1)[0];
    const offsets = [0, 5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, DAY_MS];
    for (const [i, offset] of offsets.entries()) {
      t.clock.advance(began + offset - t.clock.now());
      await expect
        .poll(() => [receiver.received.length, message()?.outcome])
        .toEqual([i + 1, "503 Service Unavailable"]);
      const next = offsets[i + 1];
      expect(message()?.lastAt).toBe(began + offset);
      await expect.poll(() => message()?.dueAt).toBe(next === undefined ? null : began + next);
      if (next !== undefined) t.clock.advance(began + next - 1 - t.clock.now());
    }
    expect(message()).toMatchObject({ state: "failed", tries: 8 });
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    // Somebody sends it again by hand.
    receiver.answer = (_, response) => response.writeHead(200).end();
    await sendAgain(t.instance.core, message()?.id ?? 0, team.id, COMMAND_LINE);
    await expect.poll(() => message()?.state).toBe("delivered");
  }, 60_000);

  it("is given up after a day, with everything that waits, once one last try has failed", async () => {
    const receiver = await startReceiver();
    receiver.answer = (_, response) => response.writeHead(503).end("down");
    const t = await startSending([receiver]);
    const { token, team } = await t.device();
    await addChannel(t, receiver, team.id, ["gap"]);
    await telemetry(t, token, [1]);
    for (let seq = 3; seq < 203; seq += 2) await telemetry(t, token, [seq]);
    const states = () => t.rows("SELECT state, count(*) AS n FROM notification_messages GROUP BY state");
    await expect.poll(states).toEqual([{ state: "waiting", n: 100 }]);
    await arrived(receiver, 100);
    t.clock.advance(DAY_MS);
    await expect.poll(states).toEqual([{ state: "failed", n: 100 }]);
    expect(receiver.received).toHaveLength(101);
  });

  it("is delivered once the receiver is well again", async () => {
    const receiver = await startReceiver();
    receiver.answer = (_, response) => response.writeHead(receiver.received.length < 3 ? 500 : 200).end();
    const { t, channel } = await gapArrived(receiver);
    await expect.poll(() => messagesOf(t.instance.core, channel.id, 1)[0]?.outcome).toMatch("500");
    t.clock.advance(5 * SECOND_MS);
    await arrived(receiver, 2);
    await expect.poll(() => messagesOf(t.instance.core, channel.id, 1)[0]?.dueAt).toBe(Date.UTC(2026, 10, 21, 8, 5));
    t.clock.advance(5 * MINUTE_MS);
    await expect
      .poll(() => messagesOf(t.instance.core, channel.id, 1)[0])
      .toMatchObject({ state: "delivered", tries: 3 });
  });

  it("is tried again soon once a clock that ran ahead is put right", async () => {
    const receiver = await startReceiver();
    receiver.answer = (_, response) => response.writeHead(receiver.received.length < 2 ? 500 : 200).end();
    const clock = new TestClock();
    clock.jump(30 * DAY_MS);
    const t = await startSending([receiver], { clock });
    const { message } = await refusedGap(t, receiver);
    t.clock.jump(-30 * DAY_MS);
    await expect.poll(message).toMatchObject({ state: "waiting", dueAt: t.clock.now() + 5 * SECOND_MS });
    t.clock.advance(5 * SECOND_MS);
    await expect.poll(message).toMatchObject({ state: "delivered", tries: 2 });
    expect(receiver.received).toHaveLength(2);
  });

  it("is tried again soon by a server that is started once a clock that ran ahead is put right", async () => {
    const receiver = await startReceiver();
    receiver.answer = (_, response) => response.writeHead(receiver.received.length < 2 ? 500 : 200).end();
    const clock = new TestClock();
    clock.jump(30 * DAY_MS);
    const t = await startSending([receiver], { clock });
    const { channel } = await refusedGap(t, receiver);
    await t.close();
    clock.jump(-30 * DAY_MS);
    const next = await startSending([receiver], { clock, directory: t.directory });
    await expect
      .poll(() => messagesOf(next.instance.core, channel.id, 1)[0])
      .toMatchObject({ state: "delivered", tries: 2 });
  });

  it("is neither given up nor forgotten by a clock that is a year ahead for a moment", async () => {
    const receiver = await startReceiver();
    receiver.answer = (_, response) => response.writeHead(500).end();
    const t = await startSending([receiver]);
    const { message } = await refusedGap(t, receiver);
    const before = message();
    t.clock.advance(4 * SECOND_MS);
    t.clock.jump(365 * DAY_MS);
    await expect.poll(message).toEqual({
      ...before,
      firstAt: (before?.firstAt ?? 0) + 365 * DAY_MS,
      dueAt: (before?.dueAt ?? 0) + 365 * DAY_MS,
    });
    receiver.answer = (_, response) => response.writeHead(200).end();
    t.clock.jump(-365 * DAY_MS);
    await expect.poll(message).toEqual(before);
    t.clock.advance(SECOND_MS);
    await expect.poll(message).toMatchObject({ state: "delivered", tries: 2 });
    expect(t.count("notices")).toBe(1);
  });

  it("is deleted after its month, also by a server whose clock once ran a year ahead", async () => {
    const receiver = await startReceiver();
    const clock = new TestClock();
    clock.jump(365 * DAY_MS);
    const t = await startSending([receiver], { clock });
    await sendingJob.run(t.instance.core);
    clock.jump(-365 * DAY_MS);
    const { token, team } = await t.device();
    await addChannel(t, receiver, team.id, ["gap"]);
    await telemetry(t, token, [1]);
    await telemetry(t, token, [3]);
    await arrived(receiver, 1);
    clock.advance(31 * DAY_MS);
    await expect.poll(() => [t.count("notices"), t.count("notification_messages")], { timeout: 5_000 }).toEqual([0, 0]);
  });

  it("waits as long as the receiver asks for, within the day", async () => {
    const receiver = await startReceiver();
    receiver.answer = (_, response) => response.writeHead(429, { "retry-after": "120" }).end();
    const t = await startSending([receiver]);
    const { token, team } = await t.device();
    const { channel } = await addChannel(t, receiver, team.id, ["gap"]);
    await telemetry(t, token, [1]);
    await telemetry(t, token, [3]);
    const due = () => messagesOf(t.instance.core, channel.id, 1)[0];
    await expect.poll(due).toMatchObject({ dueAt: t.clock.now() + 120 * SECOND_MS });
    receiver.answer = (_, response) => response.writeHead(429, { "retry-after": "999999999" }).end();
    const began = t.clock.now();
    t.clock.advance(120 * SECOND_MS);
    await expect.poll(due).toMatchObject({ tries: 2, dueAt: began + DAY_MS });
    // The receiver asked for patience, so tries that fell into that time are not made up for within seconds.
    t.clock.advance(DAY_MS - 120 * SECOND_MS);
    await expect.poll(due).toMatchObject({ tries: 3, state: "failed", dueAt: null });
  });

  it("is sent as a test ten times a minute at most", async () => {
    const { receiver, t, core } = await startWithReceiver();
    const { channel } = await addChannel(t, receiver, (await t.team()).id, ["gap"]);
    for (let i = 0; i < 10; i++) expect((await testChannel(core, channel.id, COMMAND_LINE)).delivered).toBe(true);
    await expect(testChannel(core, channel.id, COMMAND_LINE)).rejects.toMatchObject({ status: 429 });
    expect([receiver.received.length, t.count("audit_events WHERE action = 'channel.tested'")]).toEqual([10, 10]);
    t.clock.advance(MINUTE_MS);
    expect((await testChannel(core, channel.id, COMMAND_LINE)).delivered).toBe(true);
  });

  it("ends the channel where the receiver says that it is gone", async () => {
    const receiver = await startReceiver();
    receiver.answer = (_, response) => response.writeHead(410).end();
    const t = await startSending([receiver]);
    const { token, team } = await t.device();
    const { channel } = await addChannel(t, receiver, team.id, ["gap"]);
    await telemetry(t, token, [1]);
    await telemetry(t, token, [3]);
    await expect
      .poll(() => t.rows("SELECT disabled_because AS because FROM notification_channels"))
      .toEqual([{ because: "gone" }]);
    expect(t.rows("SELECT actor_kind, target_id FROM audit_events WHERE action = 'channel.disabled'")).toEqual([
      { actor_kind: "system", target_id: channel.id },
    ]);
    await telemetry(t, token, [5]);
    await expect.poll(() => t.rows("SELECT count(*) AS n FROM notices WHERE addressed = 0")[0].n).toBe(0);
    expect(t.count("notification_messages")).toBe(1);
    await pauseChannel(t.instance.core, { id: channel.id, by: COMMAND_LINE }, false);
    receiver.answer = (_, response) => response.writeHead(200).end();
    await telemetry(t, token, [7]);
    await arrived(receiver, 2);
  });

  it.each([
    [
      "the channel was paused",
      (t: TestInstance, id: string) => pauseChannel(t.instance.core, { id, by: COMMAND_LINE }, true),
    ],
    [
      "the channel was removed",
      (t: TestInstance, id: string) => removeChannel(t.instance.core, { id, by: COMMAND_LINE }),
    ],
    [
      "410: the receiver is gone",
      async (t: TestInstance, _: string, receiver: Receiver) => {
        receiver.answer = (_, response) => response.writeHead(410).end();
        t.clock.advance(5_000);
        await expect.poll(() => t.count("notification_messages WHERE state = 'waiting'")).toBe(0);
      },
    ],
  ])("is given up, in slices that let others in, where %s", async (outcome, end) => {
    const receiver = await startReceiver();
    receiver.answer = (_, response) => response.writeHead(500).end();
    const { t, channel } = await gapArrived(receiver);
    await expect.poll(() => t.rows("SELECT outcome FROM notification_messages")[0].outcome).toContain("500");
    const { core } = t.instance;
    core.store.db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3500)
      INSERT INTO notification_messages (message_id, channel_id, type, notices, first_at, due_at, state)
      SELECT 'msg_' || i, '${channel.id}', 'gap', '[1]', 0, ${t.clock.now() + DAY_MS}, 'waiting' FROM n`);
    const { transactions } = core.store.stats;
    await end(t, channel.id, receiver);
    expect(t.count(`notification_messages WHERE state = 'failed' AND due_at IS NULL AND outcome = '${outcome}'`)).toBe(
      outcome.startsWith("410") ? 3500 : 3501,
    );
    expect(core.store.stats.transactions - transactions).toBeGreaterThan(4);
    expect(receiver.received.length).toBe(outcome.startsWith("410") ? 2 : 1);
  });

  it("is not sent to a paused channel, though the process that paused it ended before it gave up what waits", async () => {
    const receiver = await startReceiver();
    receiver.answer = (_, response) => response.writeHead(500).end();
    const { t, channel } = await gapArrived(receiver);
    t.instance.core.store.db.exec("UPDATE notification_channels SET disabled_at = 1, disabled_because = 'paused'");
    await expect
      .poll(() => {
        t.clock.advance(5_000);
        return messagesOf(t.instance.core, channel.id, 1)[0]?.outcome;
      })
      .toBe("the channel was paused");
    expect(receiver.received.length).toBe(1);
  });

  it.each([
    ["paused", (t: TestInstance, id: string) => pauseChannel(t.instance.core, { id, by: COMMAND_LINE }, true)],
    ["removed", (t: TestInstance, id: string) => removeChannel(t.instance.core, { id, by: COMMAND_LINE })],
  ])("is not sent again to a channel that was %s during a try", async (outcome, end) => {
    const receiver = await startReceiver();
    const answers: (() => void)[] = [];
    receiver.answer = (_, response) => void answers.push(() => response.writeHead(500).end());
    const { t, token, channel } = await gapArrived(receiver);
    await end(t, channel.id);
    for (const answer of answers) answer();
    const states = () => t.rows("SELECT state, due_at AS dueAt, outcome FROM notification_messages");
    const ended = [{ state: "failed", dueAt: null, outcome: `the channel was ${outcome}` }];
    expect(states()).toEqual(ended);
    for (let i = 0; i < 3; i++) {
      t.clock.advance(5 * MINUTE_MS);
      // Once a later notice was handled, the outcome of the try is stored.
      await telemetry(t, token, [101 + 2 * i]);
      await expect.poll(() => t.rows("SELECT count(*) AS n FROM notices WHERE addressed = 0")[0].n).toBe(0);
    }
    expect([receiver.received.length, states()]).toEqual([1, ended]);
  });

  it("keeps no other channel waiting", async () => {
    const [dead, well] = [await startReceiver(), await startReceiver()];
    dead.answer = () => {};
    const t = await startSending([dead, well]);
    const { token, team } = await t.device();
    for (let i = 0; i < 12; i++) await addChannel(t, dead, team.id, ["gap"]);
    await addChannel(t, well, team.id, ["gap"]);
    for (let seq = 1; seq < 60; seq += 2) await telemetry(t, token, [seq]);
    const began = performance.now();
    await arrived(well, 29);
    expect(performance.now() - began).toBeLessThan(4_500);
  });
});

describe("at least once", () => {
  it("a message whose process ended while it was tried is tried by the next", async () => {
    const receiver = await startReceiver();
    receiver.answer = () => {};
    const { t, channel } = await gapArrived(receiver);
    await t.close();
    receiver.answer = (_, response) => response.writeHead(200).end();
    t.clock.advance(5 * SECOND_MS);
    const next = await startSending([receiver], { directory: t.directory, clock: t.clock });
    await arrived(receiver, 2);
    await expect.poll(() => messagesOf(next.instance.core, channel.id, 1)[0]?.state).toBe("delivered");
    const [first, second] = receiver.received as [Received, Received];
    expect(second.headers["webhook-id"]).toBe(first.headers["webhook-id"]);
  });

  it("a message is not tried beyond its number of tries when the process ended during the last", async () => {
    const receiver = await startReceiver();
    receiver.answer = () => {};
    const { t, channel } = await gapArrived(receiver);
    await t.close();
    receiver.answer = (_, response) => response.writeHead(200).end();
    const next = await startInstance({ directory: t.directory, clock: t.clock });
    next.instance.core.store.db.exec("UPDATE notification_messages SET tries = 8");
    await next.close();
    t.clock.advance(5 * SECOND_MS);
    const last = await startSending([receiver], { directory: t.directory, clock: t.clock });
    const message = () => messagesOf(last.instance.core, channel.id, 1)[0];
    await expect.poll(() => message()?.state).not.toBe("waiting");
    expect(message()).toMatchObject({ state: "failed", outcome: "the process ended during the last try", tries: 8 });
    expect(receiver.received).toHaveLength(1);
  });

  it("a message is tried for a whole day of the server's running time, however long it was down", async () => {
    const receiver = await startReceiver();
    receiver.answer = (_, response) => response.writeHead(503).end();
    const { t, channel } = await gapArrived(receiver);
    const message = (of: TestInstance) => messagesOf(of.instance.core, channel.id, 1)[0];
    await expect.poll(() => message(t)?.outcome).toMatch("503");
    await t.close();
    t.clock.advance(3 * DAY_MS);
    // Another status, to tell this try's outcome from the one before.
    receiver.answer = (_, response) => response.writeHead(502).end();
    const next = await startSending([receiver], { directory: t.directory, clock: t.clock });
    await arrived(receiver, 2);
    await expect.poll(() => message(next)?.outcome).toMatch("502");
    await expect.poll(() => message(next)?.dueAt).toBe(t.clock.now() + 5 * MINUTE_MS - 5 * SECOND_MS);
    t.clock.advance(5 * MINUTE_MS);
    await expect.poll(() => message(next)).toMatchObject({ tries: 3, state: "waiting" });
    await expect.poll(() => (message(next)?.dueAt ?? 0) - t.clock.now()).toBe(25 * MINUTE_MS - 5 * SECOND_MS);
  });

  it("a notice that was recorded and not sent before the process ended is sent by the next", async () => {
    const { receiver, t } = await startWithReceiver();
    const { token, team } = await t.device();
    await addChannel(t, receiver, team.id, ["gap"]);
    await telemetry(t, token, [1]);
    await telemetry(t, token, [3]);
    await t.close();
    await startSending([receiver], { directory: t.directory, clock: t.clock });
    await arrived(receiver, 1);
  });
});

describe("chats", () => {
  it("are told by text in which nothing that was sent is a mark, a link or a mention", async () => {
    const { receiver, t } = await startWithReceiver();
    const { token, team } = await t.device();
    await addChannel(t, receiver, team.id, ["session.failed"], "slack");
    await addChannel(t, receiver, team.id, ["session.failed"], "teams");
    const agent = "<!channel> *bold* @here [x](https://evil.example) & more";
    await t.post("/api/agent-traces/ingest", {
      token,
      json: { sessions: [{ id: "s1", outcome: "failed", agent, spans: [] }] },
    });
    t.clock.advance(10 * SECOND_MS);
    await expect.poll(() => t.rows("SELECT count(*) AS n FROM notices WHERE addressed = 0")[0].n).toBe(0);
    t.clock.advance(10 * SECOND_MS);
    const received = await arrived(receiver, 2);
    const text = received.find(({ json }) => "text" in json)?.json.text as string;
    expect(text).toContain("&lt;!\u200bchannel&gt;");
    expect(text).toContain("&amp; more");
    expect(text).not.toMatch(/<!|@here|\*bold\*|\]\(/);
    expect(text).toMatch(/^\*Session failed · Team/);
    const card = received.find(({ json }) => "attachments" in json)?.json;
    expect(card.type).toBe("message");
    expect(card.attachments[0].contentType).toBe("application/vnd.microsoft.card.adaptive");
    expect(card.attachments[0].content.body.map(({ type }: { type: string }) => type)).toEqual([
      "RichTextBlock",
      "RichTextBlock",
    ]);
  });

  it("get what happens at once in one message, and no more than 20 an hour", async () => {
    const { receiver, t } = await startWithReceiver();
    const { token, team } = await t.device();
    const { channel } = await addChannel(t, receiver, team.id, ["gap"], "slack");
    const fanned = () =>
      expect.poll(() => t.rows("SELECT count(*) AS n FROM notices WHERE addressed = 0")[0].n).toBe(0);
    await telemetry(t, token, [1]);
    for (let i = 1; i <= 12; i++) await telemetry(t, token, [1 + 2 * i]);
    await fanned();
    t.clock.advance(10 * SECOND_MS);
    const [first] = (await arrived(receiver, 1)) as [Received];
    expect(first.json.text).toContain("Gap (12)");
    expect(first.json.text).toContain("and 2 more");
    for (let i = 1; i < 25; i++) {
      await telemetry(t, token, [101 + 2 * i]);
      await sendingJob.run(t.instance.core);
      await fanned();
      t.clock.advance(11 * SECOND_MS);
    }
    await arrived(receiver, 20);
    // The receiver has the twentieth before its arrival is noted.
    await expect
      .poll(() => messagesOf(t.instance.core, channel.id, 50).filter(({ state }) => state === "waiting"))
      .toMatchObject([{ type: null, count: 5 }]);
    t.clock.advance(HOUR_MS);
    await arrived(receiver, 21);
  }, 120_000);

  it("hear of what happens after the clock ran ahead and was put right", async () => {
    const { receiver, t } = await startWithReceiver();
    const { token, team } = await t.device();
    await addChannel(t, receiver, team.id, ["gap"], "slack");
    const tell = async (seq: number) => {
      await telemetry(t, token, [seq]);
      await expect.poll(() => t.rows("SELECT count(*) AS n FROM notices WHERE addressed = 0")[0].n).toBe(0);
      t.clock.advance(11 * SECOND_MS);
    };
    await telemetry(t, token, [1]);
    t.clock.jump(30 * DAY_MS);
    for (let i = 1; i <= 20; i++) await tell(1 + 2 * i);
    await arrived(receiver, 20);
    t.clock.jump(-30 * DAY_MS);
    await tell(101);
    expect((await arrived(receiver, 21)).at(-1)?.json.text).toContain("Gap");
  }, 60_000);
});

describe("sign-ins", () => {
  it("that are refused again and again are reported once", async () => {
    const { receiver, t } = await startWithReceiver();
    await addChannel(t, receiver, null, ["sign_in.refused"]);
    for (let i = 1; i <= 8; i++) {
      const tried = signIn(t.instance.core, "nobody@example.com", `wrong ${i}`, { ip: "192.0.2.7", userAgent: null });
      await tried.catch(() => {});
      expect(t.count("notices")).toBe(i < 5 ? 0 : 1);
    }
    const [one] = (await arrived(receiver, 1)) as [Received];
    expect(one.json).toMatchObject({ type: "sign_in.refused", data: { account: null, tries: 5, minutes: 15 } });
    expect(one.body).not.toContain("nobody@");
  });
});
