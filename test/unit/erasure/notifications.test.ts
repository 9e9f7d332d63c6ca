import { expect, it } from "vitest";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { createChannel, eventsFor, listChannels, messagesOf } from "../../../src/share/notifications/notifications.ts";
import { deliverAll, eraseNow, filesWith, personWith } from "../../support/erasure.ts";
import { addChannel, arrived, startWithReceiver } from "../../support/notifications.ts";

it("erases notices about a device, sent or not, and reports the erasure as done", async () => {
  const { receiver, t } = await startWithReceiver();
  const [mine, other] = [await t.device(), await t.device()];
  await addChannel(t, receiver, mine.team.id, eventsFor("team"));
  const failed = (text: string) => ({
    repoKey: "shop",
    sessions: [{ id: text, outcome: "failed", agent: `${text} agent`, spans: [] }],
  });
  await deliverAll(t, mine, "shop", "marigold");
  await t.post("/api/agent-traces/ingest", { token: mine.token, json: failed("marigold") });
  await t.post("/api/agent-traces/ingest", { token: other.token, json: failed("lavender") });
  await arrived(receiver, 2);
  receiver.answer = (_, response) => response.writeHead(500).end();
  await t.post("/api/agent-traces/ingest", { token: mine.token, json: failed("marigold-two") });
  await arrived(receiver, 3);
  const counts = await eraseNow(t.instance.core, { device: mine.deviceId });
  expect(counts).toMatchObject({ notices: 3 });
  expect(filesWith(t.directory, "marigold")).toEqual([]);
  expect(filesWith(t.directory, "lavender")).toContain("reckon.db");
  expect(t.rows("SELECT type, data FROM notices WHERE team_id = ?", mine.team.id)).toEqual([
    { type: "erasure.done", data: expect.stringContaining('"kind":"device"') },
  ]);
  // The waiting message has nothing left to tell.
  await expect
    .poll(() => {
      t.clock.advance(5_000);
      return t.rows("SELECT outcome FROM notification_messages WHERE state = 'failed'");
    })
    .toEqual([{ outcome: "what it told of was erased" }]);
});

it("keeps notices about repositories that an erased device never sent", async () => {
  const { receiver, t } = await startWithReceiver();
  const mine = await t.device();
  const other = await t.device(mine.team);
  await addChannel(t, receiver, mine.team.id, eventsFor("team"));
  for (const [{ token }, repoKey] of [
    [mine, "acme/shop"],
    [other, "acme/till"],
  ] as const) {
    const content = `## 2026-11-21 Off by a cent in ${repoKey}\n\nIt broke.\n`;
    const files = [{ path: ".claude/brain/errors.md", content }];
    await t.post("/api/brain/ingest", { token, json: { version: 1, repoKey, files } });
  }
  for (const seq of [1, 9])
    await t.post("/api/telemetry/ingest", {
      token: mine.token,
      json: { repoKey: "acme/till", entries: [{ seq, payload: {} }] },
    });
  await t.instance.settle();
  expect(t.rows("SELECT repo_key AS repo FROM notices WHERE type = 'gap'")).toEqual([{ repo: "acme/till" }]);
  await eraseNow(t.instance.core, { device: mine.deviceId });
  expect(t.rows("SELECT type, repo_key AS repo FROM notices ORDER BY id")).toEqual([
    { type: "defect.new", repo: "acme/till" },
    { type: "erasure.done", repo: null },
  ]);
});

it("erases only a session's own notices, and still sends all others", async () => {
  const { receiver, t } = await startWithReceiver();
  const mine = await t.device();
  const other = await t.device(mine.team);
  await addChannel(t, receiver, mine.team.id, eventsFor("team"));
  receiver.answer = (_, response) => response.writeHead(500).end();
  const failed = ["marigold", "lavender"].map((id) => ({ id, outcome: "failed", agent: `${id} agent`, spans: [] }));
  await t.post("/api/agent-traces/ingest", { token: mine.token, json: { repoKey: "shop", sessions: failed } });
  await t.post("/api/brain/ingest", {
    token: other.token,
    json: {
      version: 1,
      repoKey: "acme/shop",
      files: [{ path: ".claude/brain/errors.md", content: "## 2026-11-21 Off by a cent\n\nIt broke.\n" }],
    },
  });
  await t.instance.settle();
  await arrived(receiver, 3);
  expect(await eraseNow(t.instance.core, { session: "marigold" })).toMatchObject({ notices: 1 });
  receiver.answer = (_, response) => response.writeHead(204).end();
  const told = () => receiver.received.slice(3).map(({ json }) => json.data.agent ?? json.data.title ?? json.type);
  await expect
    .poll(() => {
      t.clock.advance(5_000);
      // A message that was tried while the receiver failed arrives twice.
      return [...new Set(told())].sort();
    })
    .toEqual(["Off by a cent", "erasure.done", "lavender agent"]);
  expect(filesWith(t.directory, "marigold")).toEqual([]);
});

it("removes a person's address from every channel, and a channel that has no address left", async () => {
  const { t } = await startWithReceiver();
  const device = await t.device();
  const email = "Zinnia@example.com";
  await personWith(t, device, email);
  const { core } = t.instance;
  const mail = (name: string, target: string) =>
    createChannel(core, { teamId: device.team.id, kind: "mail", name, target, events: ["gap"] }, COMMAND_LINE);
  const { channel: both } = await mail("both", "zinnia@example.com, bob@example.com");
  const { channel: alone } = await mail("alone", "ZINNIA@EXAMPLE.COM");
  const counts = await eraseNow(t.instance.core, { person: email });
  expect(counts).toMatchObject({ "notification addresses": 2 });
  expect(listChannels(core).map(({ id, addresses }) => [id, addresses])).toEqual([[both.id, ["bob@example.com"]]]);
  expect(messagesOf(core, alone.id, 1)).toEqual([]);
  for (const name of ["zinnia", "Zinnia", "ZINNIA"]) expect([name, filesWith(t.directory, name)]).toEqual([name, []]);
});
