import { expect, it } from "vitest";
import { startInstance } from "../support/instance.ts";
import { startReceiver } from "../support/receiver.ts";
import { command, commandJson } from "../support/remote.ts";

it("makes a webhook beside a running server, tries it, rotates its secret, pauses and removes it", async () => {
  const receiver = await startReceiver();
  receiver.answer = (_, response) => response.writeHead(202).end("queued");
  const t = await startInstance();
  const team = await t.team({ name: "Acme" });
  const env = { RECKON_OUTBOUND: `${receiver.host},+private` };
  const run = (...args: string[]) => command(["webhook", ...args, "--data", t.directory], { env });
  const json = (...args: string[]) => commandJson(["webhook", ...args, "--data", t.directory], { env });
  const made = await json("create", "--team", "Acme", "--name", "ci", "--to", receiver.url, "--events", "gap,rollback");
  expect(made).toEqual({
    ...{ id: expect.stringMatching(/^chn_/), team: "Acme", kind: "webhook", name: "ci", to: receiver.url },
    ...{ events: ["gap", "rollback"], status: "active", createdAt: expect.any(String), disabledAt: null, last: null },
    secret: expect.stringMatching(/^whsec_/),
  });
  expect(await json("test", made.id)).toEqual({
    id: made.id,
    delivered: true,
    outcome: "202 Accepted",
    reply: "queued",
  });
  receiver.answer = (_, response) => response.writeHead(400).end("channel_is_archived\u001b[2J");
  const refused = await run("test", made.id);
  expect([refused.code, refused.stdout]).toEqual([1, "not delivered: 400 Bad Request\n"]);
  expect(refused.stderr).toBe("It replied: channel_is_archived [2J\n");
  expect(receiver.received[0]?.json).toMatchObject({ type: "test", data: { team: team.id, channel: made.id } });
  const { secret } = await json("rotate", made.id);
  expect(secret).not.toBe(made.secret);
  expect(await json("pause", made.id)).toEqual({ id: made.id, status: "paused", changed: true });
  const listed = await run("list");
  expect(listed.stdout).toContain("paused");
  expect(listed.stdout).not.toContain("whsec_");
  expect(await json("resume", made.id)).toMatchObject({ status: "active" });
  expect(await json("remove", made.id)).toEqual({ id: made.id, status: "removed" });
  expect(await json("list")).toEqual([]);
  expect(
    t.rows("SELECT actor_kind AS kind, action FROM audit_events WHERE action LIKE 'channel.%' ORDER BY id"),
  ).toEqual(
    ["created", "tested", "tested", "rotated", "paused", "resumed", "removed"].map((did) => ({
      kind: "command",
      action: `channel.${did}`,
    })),
  );
});

it("says what is wrong, and which line is missing", async () => {
  const t = await startInstance();
  await t.team({ name: "Acme" });
  const run = (...args: string[]) => command(["webhook", ...args, "--data", t.directory]);
  const create = (...args: string[]) => run("create", "--name", "x", "--to", "https://hooks.example.com/x", ...args);
  const made = await create("--team", "Acme");
  expect([made.code, made.stdout.startsWith("whsec_")]).toEqual([0, true]);
  expect(made.stderr).toContain("RECKON_OUTBOUND=hooks.example.com");
  const id = /chn_\w+/.exec(made.stderr)?.[0] as string;
  const tested = await run("test", id);
  expect([tested.code, tested.stdout]).toEqual([
    1,
    "not delivered: RECKON_OUTBOUND does not list hooks.example.com.\n",
  ]);
  for (const [args, code, text] of [
    [[], 2, "--team TEAM, or --installation"],
    [["--team", "Acme", "--events", "disk.low"], 1, 'no event "disk.low" here, but gap, rollback, defect.new'],
    [["--team", "Acme", "--kind", "mail"], 1, "not an e-mail address"],
    [["--team", "Nobody"], 1, "Nobody"],
  ] as const) {
    const done = await create(...args);
    expect([done.code, done.stderr]).toEqual([code, expect.stringContaining(text)]);
  }
  expect((await run("rotate", "chn_none")).stderr).toContain("no such channel");
});
