import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";
import { describe, expect, it, vi } from "vitest";
import { DAY_MS, MINUTE_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { NOTICE_TYPES, notify } from "../../src/platform/notices/notices.ts";
import { readRetryAfter } from "../../src/platform/outbound/outbound.ts";
import { fanOut } from "../../src/share/notifications/fan-out.ts";
import { spellSecret, webhook } from "../../src/share/notifications/formats.ts";
import { createChannel } from "../../src/share/notifications/notifications.ts";
import { nextTryAt } from "../../src/share/notifications/schedule.ts";
import { sendingJob } from "../../src/share/notifications/send.ts";
import { say } from "../../src/share/notifications/words.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";
import { arrived, startSending } from "../support/notifications.ts";
import { startReceiver } from "../support/receiver.ts";
import { processorMs } from "../support/time.ts";

const doc = readFileSync("docs/notifications.md", "utf8");
const examples = [...doc.matchAll(/^\{"type".*\}$/gm)].map(([line]) => JSON.parse(line));
const types = Object.keys(NOTICE_TYPES).filter((type) => type !== "test");

it("has every event in the documentation, with an example that can be put in words", async () => {
  expect(examples.map(({ type }) => type).sort()).toEqual(types.sort());
  for (const type of types) expect([type, doc.includes(`| \`${type}\` |`)]).toEqual([type, true]);
  const { instance } = await startInstance();
  for (const { type, timestamp, data } of examples) {
    const { event: eventId, team: teamId, url: _, ...rest } = data;
    const notice = { id: 1, eventId, type, teamId, at: Date.parse(timestamp), path: "/", data: rest };
    const { title, lines } = say(instance.core, [notice], 0);
    expect([type, title === "", lines.length > 0]).toEqual([type, false, true]);
    expect(lines.join("\n")).not.toMatch(/undefined|null|NaN|\[object/);
  }
});

it("gives no day for a device that never reported", async () => {
  const { instance } = await startInstance();
  const data = { device: "dev_1", last_seen: null, state: "began" };
  const notice = { id: 1, eventId: "evt_1", type: "device.quiet", teamId: "team_1", at: 0, path: "/", data } as const;
  expect(say(instance.core, [notice], 0).lines.join("\n")).toContain("has never reported");
});

it("documents a check of signatures that accepts what is sent, and nothing altered", () => {
  const source = /```js\n(import \{ createHmac[\s\S]*?)```/.exec(doc)?.[1] as string;
  const body = source.replace(/^import .*$/m, "");
  const verify = new Function("createHmac", "timingSafeEqual", `${body}; return verify;`)(
    ...["createHmac", "timingSafeEqual"].map((name) => process.getBuiltinModule("node:crypto")[name as "createHmac"]),
  );
  const [secret, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)].map(spellSecret) as [string, string];
  const payload = { type: "gap", data: { title: "Zürich 💥" } };
  const sent = webhook("msg_1", Date.now(), payload, [other, secret]);
  expect(verify(secret, sent.headers, sent.body)).toEqual(payload);
  expect(new Webhook(secret).verify(sent.body, { ...sent.headers })).toEqual(payload);
  expect(verify(other, sent.headers, sent.body)).toEqual(payload);
  const old = webhook("msg_1", Date.now() - 3_600_000, payload, [secret]);
  for (const [headers, text] of [
    [sent.headers, `${sent.body} `],
    [{ ...sent.headers, "webhook-id": "msg_2" }, sent.body],
    [webhook("msg_1", Date.now(), payload, [Buffer.alloc(32, 3)].map(spellSecret)).headers, sent.body],
    [old.headers, old.body],
  ] as const)
    expect(() => verify(secret, headers, text)).toThrow(/wrong signature|too old/);
});

it("tries late rather than several times in a row, and honours Retry-After within the day", () => {
  const day = 86_400_000;
  expect([0, 1, 2, 7, 8].map((tries) => nextTryAt(0, tries, 0, 0))).toEqual([5_000, 5_000, 300_000, day, undefined]);
  // The second try follows a first one that took long all the same.
  expect(nextTryAt(0, 1, 1_000, 6_000)).toBe(11_000);
  expect(nextTryAt(0, 2, 3_600_000, 3_600_000)).toBe(7_200_000);
  expect([1, 2].map((tries) => nextTryAt(0, tries, 5 * day, 5 * day))).toEqual([5 * day + 300_000, undefined]);
  expect(nextTryAt(0, 1, 0, 0, 60_000)).toBe(60_000);
  expect(nextTryAt(0, 1, 0, 0, 3 * day)).toBe(day);
  const now = Date.UTC(2026, 10, 21, 8);
  expect(readRetryAfter("120", now)).toBe(120_000);
  expect(readRetryAfter("Sat, 21 Nov 2026 08:01:00 GMT", now)).toBe(60_000);
  for (const text of [undefined, "", "soon", "-5", "Sat, 21 Nov 2020 08:01:00 GMT"])
    expect(readRetryAfter(text, now)).toBe(0);
});

describe("the messages of a month", () => {
  const HOUR_MS = 60 * MINUTE_MS;
  /** An instance with a chat, or a webhook that is there, and messages to it since so many hours before now. */
  async function told(count: number, hours: number, sending?: TestInstance, url?: string) {
    const t = sending ?? (await startInstance({ settings: { outbound: "hooks.example.com" } }));
    const { core } = t.instance;
    const { id: teamId } = await t.team();
    const target = url ?? "https://hooks.example.com/x";
    const kind = url === undefined ? "slack" : "webhook";
    const { channel } = await createChannel(
      core,
      { teamId, kind, name: "Ours", target, events: ["gap"] },
      COMMAND_LINE,
    );
    core.store.db
      .prepare(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < @count)
         INSERT INTO notification_messages (message_id, channel_id, type, notices, first_at, state, tries)
         SELECT 'msg_' || i, @channel, 'gap', '[1]', @from + i, 'delivered', 1 FROM n`,
      )
      .run({ count, channel: channel.id, from: t.clock.now() - hours * HOUR_MS });
    return { t, core, teamId };
  }

  it("do not slow down addressing new events", async () => {
    const among = async (count: number) => {
      const { core, teamId } = await told(count, 700);
      await core.store.write(() => {
        for (let n = 0; n < 100; n++) notify(core, { type: "gap", teamId, path: "/telemetry", data: { n } });
      });
      return processorMs(() => fanOut(core));
    };
    const amongFew = await among(60);
    // Reading them all for each took five seconds.
    expect(await among(60_000)).toBeLessThan(10 * amongFew);
  });

  it("do not slow down sending new messages", async () => {
    const among = async (count: number) => {
      const receiver = await startReceiver();
      const { core, teamId } = await told(count, 700, await startSending([receiver]), receiver.url);
      await core.store.write(() => {
        for (let n = 0; n < 200; n++) notify(core, { type: "gap", teamId, path: "/telemetry", data: { n } });
      });
      return processorMs(() => arrived(receiver, 200));
    };
    const amongFew = await among(60);
    // Reading them all for each took five times as long.
    expect(await among(60_000)).toBeLessThan(2.5 * amongFew);
  });

  it("are deleted after 30 days, however many they were", async () => {
    const { t, core, teamId } = await told(4_000, 31 * 24);
    await core.store.write(() => {
      for (let n = 0; n < 2_500; n++) notify(core, { type: "rollback", teamId, path: "/telemetry", data: { n } });
    });
    await sendingJob.run(core);
    // Not before the clock went on for an hour.
    expect([t.count("notification_messages"), t.count("notices")]).toEqual([4_000, 2_500]);
    t.clock.advance(HOUR_MS);
    await sendingJob.run(core);
    expect([t.count("notification_messages"), t.count("notices")]).toEqual([0, 2_500]);
    t.clock.advance(31 * DAY_MS);
    await sendingJob.run(core);
    expect(t.count("notices")).toBe(0);
  });

  it("are addressed to many channels in transactions none of which takes long", async () => {
    const { t, core, teamId } = await told(1, 1);
    await core.store.write(() => {
      for (let n = 0; n < 50; n++) notify(core, { type: "gap", teamId, path: "/telemetry", data: { n } });
    });
    let now = t.clock.monotonic();
    vi.spyOn(core.clock, "monotonic").mockImplementation(() => (now += 3));
    const { transactions } = core.store.stats;
    await fanOut(core);
    expect(core.store.stats.transactions - transactions).toBeGreaterThan(10);
    expect(t.rows("SELECT notices FROM notification_messages WHERE state = 'waiting'")).toMatchObject([
      { notices: JSON.stringify(Array.from({ length: 50 }, (_, i) => i + 1)) },
    ]);
  });
});
