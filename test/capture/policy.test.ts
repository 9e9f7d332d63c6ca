import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { bind } from "../../src/capture/bind.ts";
import { examine, readStatus, recording } from "../../src/capture/capture.ts";
import { knownPolicy } from "../../src/capture/policy.ts";
import { writeSetting } from "../../src/capture/state.ts";
import { DAY_MS, MINUTE_MS } from "../../src/kit/clock.ts";
import { passLine, resumedLine, troubleLine } from "../../src/surfaces/cli/agent-texts.ts";
import { plants } from "../real/planted.ts";
import { deviceOf, expectAgreement, heldOf, startAgent, startServer, type TestAgent } from "../support/capture.ts";
import { textOf, turn } from "../support/turns.ts";
import { SAMPLES } from "../unit/formats/agents/samples.ts";

const INGEST = "/api/telemetry/ingest";
const TRACES = "/api/agent-traces/ingest";

const promptsAt = (a: TestAgent) =>
  heldOf(a.server, deviceOf(a))
    .entries.map(({ payload }) => JSON.parse(payload))
    .filter(({ type }) => type === "prompt")
    .map(({ text }) => text as string);
const rowsOf = (a: TestAgent, table: string) => a.capture.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
/** Whether any file of the client's folder holds a text, its log of changes included. */
const holds = (a: TestAgent, text: string) =>
  readdirSync(a.capture.places.home).some((name) =>
    name.startsWith("agent.db") ? readFileSync(join(a.capture.places.home, name)).includes(text) : false,
  );
const serverHolds = (a: TestAgent, text: string) => JSON.stringify(heldOf(a.server, deviceOf(a))).includes(text);

/** Sets the policy of a server that may be newer than the client. */
const saying = (a: TestAgent, captureMode: string) => {
  a.server.between = (path, answer) =>
    path === "/api/policy"
      ? Response.json(
          { ok: true, captureMode, watchlist: [] },
          { headers: { "service-api-version": "1", etag: '"x"' } },
        )
      : answer();
};

it("finds a secret although a terminal's colours stand between its name and its value", async () => {
  const a = await startAgent();
  const jq = '\u001b[0m\u001b[34;1m"db_password"\u001b[0m\u001b[1;39m:\u001b[0m \u001b[0;32m"Zebra2024x"\u001b[0m';
  const grep = "\u001b[01;31m\u001b[KAPI_SECRET\u001b[m\u001b[K=\u001b[33mGiraffe2024x\u001b[0m";
  a.write("s1", ...turn({ n: 1, at: a.server.clock.now(), prompt: grep, answer: jq, output: `${jq}\n${grep}` }));
  await a.pass();
  for (const secret of ["Zebra2024x", "Giraffe2024x"])
    expect([holds(a, secret), serverHolds(a, secret)]).toEqual([false, false]);
  expect(promptsAt(a)).toEqual(["API_SECRET=[REDACTED:assigned-secret]"]);
});

it("keeps nothing that hooks say of an agent that is not watched", async () => {
  const a = await startAgent();
  writeSetting(a.capture, "agents", ["claude-code"]);
  writeFileSync(
    join(a.capture.places.spool, "1-1-cursor-afterFileEdit"),
    JSON.stringify({
      ...{ hook_event_name: "afterFileEdit", conversation_id: "c1", file_path: join(a.home, "shop/a.ts") },
      ...{ edits: [{ old_string: "", new_string: "UNHEARD" }], workspace_roots: [join(a.home, "shop")] },
    }),
  );
  expect(await a.pass()).toMatchObject({ recorded: 0 });
  expect(readdirSync(a.capture.places.spool)).toEqual([]);
  expect(heldOf(a.server, deviceOf(a)).sessions).toEqual([]);
});

describe("without a policy", () => {
  it("nothing is read until one is known", async () => {
    const a = await startAgent();
    a.server.between = (path, answer) => (path === "/api/policy" ? new Response("", { status: 502 }) : answer());
    a.work("s1", 2);
    expect(await a.pass()).toMatchObject({ recorded: 0, quiet: "no-policy" });
    expect([rowsOf(a, "sources"), rowsOf(a, "entries"), rowsOf(a, "spans"), rowsOf(a, "seen")]).toEqual([0, 0, 0, 0]);
    a.server.between = undefined;
    expect(await a.pass()).toMatchObject({ recorded: 12, quiet: undefined });
    expectAgreement(a);
  });

  it.each([true, false])("whose mode is understood nothing is recorded (one was known before: %s)", async (before) => {
    const a = await startAgent();
    if (before) {
      a.work("s1", 1);
      await a.pass();
    }
    saying(a, "verbatim");
    a.advance(MINUTE_MS);
    a.work("s1", 1, 1);
    expect(await a.pass()).toMatchObject({ recorded: 0, quiet: "policy" });
    a.advance(MINUTE_MS);
    a.work("s1", 1, 2);
    expect(await a.pass()).toMatchObject({ recorded: 0, quiet: "policy" });
    // With an etag a newer client would only be told that nothing has changed, and not the mode that it understands.
    expect(knownPolicy(a.capture)).toMatchObject({ captureMode: "off", etag: null });
    a.server.between = undefined;
    a.advance(MINUTE_MS);
    await a.pass();
    a.work("s1", 1, 3);
    await a.pass();
    expect(promptsAt(a)).not.toContain("Do s1-2");
    expect(promptsAt(a)).toContain("Do s1-3");
  });
});

it("says at the end of a pause whether anything is recorded again", async () => {
  const a = await startAgent({ connected: false });
  const resumed = () => {
    recording.pause(a.capture, null);
    recording.resume(a.capture);
    return resumedLine(readStatus(a.capture));
  };
  expect(resumed()).toContain('Not connected: run "reckon agent connect URL CODE"');
  await a.connect();
  await a.pass();
  expect(resumed()).toBe("Recording again.");
  a.server.policy("off");
  await a.pass();
  expect(resumed()).toContain("the team's policy is to record nothing");
});

describe("while nothing may be recorded", () => {
  const ways = {
    "by policy": [(a: TestAgent) => a.server.policy("off"), (a: TestAgent) => a.server.policy("redacted")],
    "by pause": [
      async (a: TestAgent) => recording.pause(a.capture, null),
      async (a: TestAgent) => recording.resume(a.capture),
    ],
    "for two hours": [
      async (a: TestAgent) => recording.pause(a.capture, a.server.clock.now() + 120 * MINUTE_MS),
      async (a: TestAgent) => a.advance(110 * MINUTE_MS),
    ],
  } as const;

  it.each(Object.entries(ways))("%s nothing is read, and what happened then is never sent", async (_, [begin, end]) => {
    const a = await startAgent();
    a.work("s1", 1);
    await a.pass();
    await begin(a);
    // The machine learns of it in its next pass.
    await a.pass();
    const offsets = () => a.capture.db.prepare("SELECT path, offset FROM sources").all();
    const before = offsets();
    a.advance(MINUTE_MS);
    a.work("s1", 1, 1);
    a.work("s2", 1);
    a.write("s1", { type: "ai-title", aiTitle: "UNHEARD", sessionId: "s1" });
    expect(await a.pass()).toMatchObject({ recorded: 0 });
    expect(offsets()).toEqual(before);
    a.advance(10 * MINUTE_MS);
    await end(a);
    await a.pass();
    a.advance(MINUTE_MS);
    a.work("s1", 1, 2);
    a.work("s2", 1, 2);
    await a.pass();
    expectAgreement(a);
    expect(promptsAt(a).sort()).toEqual(["Do s1-0", "Do s1-2", "Do s2-2"]);
    for (const word of ["UNHEARD", "Do s1-1", "Do s2-0"])
      expect([word, holds(a, word), serverHolds(a, word)]).toEqual([word, false, false]);
  });

  it.each(Object.entries(ways))(
    "%s what hooks say is not kept, and what they said before is",
    async (_, [begin, end]) => {
      const a = await startAgent();
      const { spool } = a.capture.places;
      let notes = 0;
      const say = (text: string) => {
        const path = join(spool, `${++notes}-1-cursor-afterFileEdit`);
        const edits = [{ old_string: "", new_string: text }];
        const file = join(a.home, "shop", `${text}.ts`);
        writeFileSync(file, text);
        writeFileSync(
          path,
          JSON.stringify({
            ...{ hook_event_name: "afterFileEdit", conversation_id: "c1", generation_id: `g${notes}` },
            ...{ file_path: file, edits, workspace_roots: [join(a.home, "shop")] },
          }),
        );
        utimesSync(path, a.server.clock.now() / 1000, a.server.clock.now() / 1000);
      };
      await a.pass();
      say("before");
      a.advance(MINUTE_MS);
      await begin(a);
      await a.pass();
      a.advance(MINUTE_MS);
      say("UNHEARD");
      await a.pass();
      expect(readdirSync(spool).some((name) => readFileSync(join(spool, name)).includes("UNHEARD"))).toBe(false);
      a.advance(10 * MINUTE_MS);
      await end(a);
      await a.pass();
      a.advance(MINUTE_MS);
      say("after");
      await a.pass();
      expect(readdirSync(spool)).toEqual([]);
      const edits = heldOf(a.server, deviceOf(a)).entries.map(({ payload }) => JSON.parse(payload).path);
      expect(edits).toEqual(["before.ts", "after.ts"]);
    },
  );

  it("nothing of it is read by a pass that had begun before", async () => {
    const a = await startAgent();
    a.work("s1", 1);
    a.work("s2", 1);
    a.server.between = (path, answer) => {
      if (path === "/api/telemetry/ingest" && !readStatus(a.capture).quiet) {
        a.advance(MINUTE_MS);
        recording.pause(a.capture, null);
        a.advance(MINUTE_MS);
        for (const session of ["s1", "s2"]) a.work(session, 1, 1);
      }
      return answer();
    };
    // The first session is sent before the second is read.
    await a.pass({ force: true, maxOutboxBytes: 1 });
    expect(promptsAt(a).sort()).toEqual(["Do s1-0", "Do s2-0"]);
    for (const word of ["Do s1-1", "Do s2-1"])
      expect([word, holds(a, word), serverHolds(a, word)]).toEqual([word, false, false]);
  });

  it("nothing is read until a person resumes, although an earlier pause had an end", async () => {
    const a = await startAgent();
    await a.pass();
    recording.pause(a.capture, a.server.clock.now() + 120 * MINUTE_MS);
    a.advance(MINUTE_MS);
    recording.pause(a.capture, null);
    expect(readStatus(a.capture).quiet).toEqual({ reason: "paused", until: null });
    a.advance(180 * MINUTE_MS);
    a.work("s1", 1);
    expect(await a.pass()).toMatchObject({ recorded: 0, quiet: "paused" });
  });

  it.each(Object.entries(ways))("%s it stays so when the clock is set back", async (_, [begin, end]) => {
    const a = await startAgent();
    await a.pass();
    await begin(a);
    await a.pass();
    a.advance(-60 * MINUTE_MS);
    a.work("s1", 1);
    a.advance(MINUTE_MS);
    expect(readStatus(a.capture).quiet).not.toBeNull();
    expect(await a.pass()).toMatchObject({ recorded: 0, quiet: expect.stringMatching(/paused|policy/) });
    await end(a);
    a.advance(75 * MINUTE_MS);
    a.work("s2", 1);
    await a.pass();
    expect(promptsAt(a)).toEqual(["Do s2-0"]);
    expect([holds(a, "Do s1-0"), serverHolds(a, "Do s1-0")]).toEqual([false, false]);
  });

  it("what happened stays unread though the clock was set back before a person resumed", async () => {
    const a = await startAgent();
    await a.pass();
    recording.pause(a.capture, null);
    a.advance(-60 * MINUTE_MS);
    a.work("s1", 1);
    a.advance(MINUTE_MS);
    // No pass ran in between.
    recording.resume(a.capture);
    a.advance(MINUTE_MS);
    a.work("s2", 1);
    await a.pass();
    expect(promptsAt(a)).toEqual(["Do s2-0"]);
    expect([holds(a, "Do s1-0"), serverHolds(a, "Do s1-0")]).toEqual([false, false]);
  });

  it("what was ended stays so, and what happened then unread, when the clock is set back", async () => {
    const a = await startAgent();
    await a.pass();
    recording.pause(a.capture, a.server.clock.now() + 120 * MINUTE_MS);
    a.advance(MINUTE_MS);
    a.work("s1", 1);
    a.advance(60 * MINUTE_MS);
    recording.resume(a.capture);
    a.advance(-90 * MINUTE_MS);
    a.work("s2", 1);
    expect(await a.pass()).toMatchObject({ quiet: undefined });
    recording.resume(a.capture);
    await a.pass();
    expect(promptsAt(a)).toEqual(["Do s2-0"]);
  });

  it("records without a time of their own are left out if they may have been written then", async () => {
    const a = await startAgent();
    const path = join(a.home, ".cursor/projects/home-kim-shop/agent-transcripts/c1/c1.jsonl");
    const say = (text: string) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(
        path,
        textOf([
          { role: "user", message: { content: [{ type: "text", text: `<user_query>\n${text}\n</user_query>` }] } },
        ]),
        { flag: "a" },
      );
      utimesSync(path, a.server.clock.now() / 1000, a.server.clock.now() / 1000);
    };
    say("before");
    await a.pass();
    recording.pause(a.capture, null);
    a.advance(MINUTE_MS);
    say("UNHEARD");
    a.advance(MINUTE_MS);
    recording.resume(a.capture);
    a.advance(MINUTE_MS);
    say("at once after");
    await a.pass();
    a.advance(MINUTE_MS);
    say("later");
    await a.pass();
    expect(promptsAt(a)).toEqual(["before", "later"]);
    expect([holds(a, "UNHEARD"), serverHolds(a, "UNHEARD")]).toEqual([false, false]);
    expectAgreement(a);
  });

  it("what was recorded before is not sent while the policy forbids it, and is once it may be", async () => {
    const a = await startAgent();
    await a.pass();
    a.work("s1", 1);
    await a.server.fault("telemetryIngest", 503);
    await a.pass();
    await a.server.policy("off");
    await a.pass();
    const before = a.server.asked.filter((path) => path === INGEST || path === TRACES).length;
    a.advance(MINUTE_MS);
    await a.pass();
    expect(a.server.asked.filter((path) => path === INGEST || path === TRACES)).toHaveLength(before);
    await a.server.policy("redacted");
    await a.pass();
    expectAgreement(a);
    expect(promptsAt(a)).toEqual(["Do s1-0"]);
  });
});

/** The transcripts of all agents that are files, with words planted wherever a person, a model or a tool speaks. */
function speak(a: TestAgent, say: (text: string) => string): void {
  const stores: Record<string, string> = {
    "claude-code": ".claude/projects",
    codex: ".codex/sessions",
    "gemini-cli": ".gemini/tmp/shop/chats",
    "copilot-cli": ".copilot/session-state",
    cursor: ".cursor/projects",
  };
  for (const [agent, { path, records }] of Object.entries(SAMPLES)) {
    const store = stores[agent];
    if (store === undefined) continue;
    const file = join(a.home, store, path.replace(/^(?:tmp|sessions|projects|session-state)\//, ""));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, say(textOf(records)));
  }
  a.write(
    "s1",
    say(
      textOf(
        turn({
          session: "s1",
          n: 1,
          at: a.server.clock.now(),
          cwd: join(a.home, "shop"),
          prompt: "P P",
          answer: "A A",
          command: "C C",
          output: "O O",
        }),
      ),
    ),
    say(textOf([{ type: "ai-title", aiTitle: "T T", sessionId: "s1" }])),
  );
}

describe("in mode metadata", () => {
  it("no text of prompts, answers, inputs, outputs and titles is on the machine's disk nor on the server", async () => {
    const a = await startAgent({ since: 400 * 24 * 60 * MINUTE_MS });
    await a.server.policy("metadata");
    const words = ["P P", "A A", "C C", "O O", "T T", "Sell more", "I lower prices", "git commit -qam", "zwei"];
    speak(a, (text) => text);
    const { recorded, unreadable } = await a.pass();
    expect(recorded).toBeGreaterThan(20);
    expect(unreadable).toEqual([]);
    expectAgreement(a);
    for (const word of words) expect([word, holds(a, word), serverHolds(a, word)]).toEqual([word, false, false]);
    expect(
      JSON.parse(
        heldOf(a.server, deviceOf(a)).entries.find(({ payload }) => payload.includes("s1-1-0"))?.payload as string,
      ),
    ).toMatchObject({ type: "prompt", chars: 3 });
  });
});

describe("in mode redacted", () => {
  it("no secret is on the machine's disk nor sent, and a text that was cut says so", async () => {
    const a = await startAgent({ since: 400 * 24 * 60 * MINUTE_MS });
    const planted = plants("capture");
    const said = planted.map(({ text }) => text).join("\n");
    const inJson = JSON.stringify(`\n${said}\n`).slice(1, -1);
    const bodies: string[] = [];
    a.server.between = (_, answer, body) => {
      bodies.push(body);
      return answer();
    };
    const long = "word ".repeat(8_000);
    speak(a, (text) => text.replace(/P P|A A|C C|O O|T T|Sell more|I lower prices/g, (word) => `${word} ${inJson}`));
    a.write(
      "s2",
      ...turn({
        session: "s2",
        n: 2,
        at: a.server.clock.now(),
        cwd: join(a.home, "shop"),
        prompt: `${long}\n${said}`,
        output: long,
      }),
    );
    await a.pass();
    expectAgreement(a);
    for (const { rule, secret } of planted) {
      const asJson = JSON.stringify(secret).slice(1, -1);
      expect([rule, holds(a, secret), holds(a, asJson), bodies.some((body) => body.includes(asJson))]).toEqual([
        rule,
        false,
        false,
        false,
      ]);
      expect([rule, serverHolds(a, `[REDACTED:${rule}]`)]).toEqual([rule, true]);
    }
    const { spans } = heldOf(a.server, deviceOf(a));
    expect(promptsAt(a).find((text) => text.startsWith("word"))).toMatch(/\n\[cut: 16384 of \d+ characters\]$/);
    expect(
      JSON.parse(spans.find(({ id }) => id === "toolu_s2-2")?.document as string).attributes["gen_ai.tool.call.result"],
    ).toMatch(/\n\[cut: 16384 of 40000 characters\]$/);
  });
});

it("takes nothing to another team that was recorded for one", async () => {
  const a = await startAgent();
  await a.pass();
  a.work("s1", 1);
  await a.server.fault("telemetryIngest", 503);
  await a.pass();
  const b = await startServer();
  await bind(a.capture, { url: b.url, code: await b.code() });
  expect(readStatus(a.capture).waiting).toMatchObject({ entries: 0, sessions: 0 });
  expect([rowsOf(a, "entries"), rowsOf(a, "spans"), rowsOf(a, "sources")]).toEqual([0, 0, 0]);
});

it("what happened in a pause goes to no other team either, and a pause holds there", async () => {
  const a = await startAgent();
  a.work("s1", 1);
  a.advance(MINUTE_MS);
  recording.pause(a.capture, null);
  a.advance(MINUTE_MS);
  a.work("s1", 1, 1);
  a.advance(MINUTE_MS);
  recording.resume(a.capture);
  a.advance(MINUTE_MS);
  a.work("s1", 1, 2);
  a.advance(MINUTE_MS);
  recording.pause(a.capture, a.server.clock.now() + 120 * MINUTE_MS);
  a.advance(MINUTE_MS);
  a.work("s1", 1, 3);
  const b = await startServer();
  await bind(a.capture, { url: b.url, code: await b.code() });
  expect(await a.pass()).toMatchObject({ recorded: 0, quiet: "paused" });
  a.advance(120 * MINUTE_MS);
  a.work("s1", 1, 4);
  await a.pass();
  const [{ document }] = b.rows("SELECT document FROM trace_sessions");
  const prompts = (JSON.parse(document).prompts as { text: string }[]).map(({ text }) => text);
  expect(prompts).toEqual(["Do s1-0", "Do s1-2", "Do s1-4"]);
});

it("nor what happened while there may have been a pause that is no longer known", async () => {
  const a = await startAgent();
  recording.pause(a.capture, null);
  a.advance(MINUTE_MS);
  a.work("s1", 1);
  a.advance(MINUTE_MS);
  recording.resume(a.capture);
  await a.sleep(130 * DAY_MS);
  await a.pass();
  a.work("s1", 1, 1);
  const b = await startServer();
  await bind(a.capture, { url: b.url, code: await b.code() });
  writeSetting(a.capture, "since", 0);
  await a.pass();
  const [{ document }] = b.rows("SELECT document FROM trace_sessions");
  expect((JSON.parse(document).prompts as { text: string }[]).map(({ text }) => text)).toEqual(["Do s1-1"]);
});

it("reads nothing when it no longer knows what may be read", async () => {
  const a = await startAgent();
  a.work("s1", 1);
  a.advance(60 * DAY_MS);
  a.capture.close();
  for (const end of ["", "-wal", "-shm"]) rmSync(a.capture.places.database + end, { force: true });
  a.reopen();
  const result = await a.pass();
  expect(result).toMatchObject({ recorded: 0, quiet: "no-since" });
  // Nothing waits: no pass will read it.
  expect(troubleLine(result)).toBe("");
  const reason = "this machine no longer knows from when on it may read: connect again with a new code";
  expect(passLine(result)).toBe("0 new events, 0 sessions sent. Nothing was read: connect with a new code.");
  expect(readStatus(a.capture).trouble).toEqual({ reason, until: null });
  expect(await examine(a.capture)).toContainEqual({ name: "reading", state: "failed", message: reason });
  await a.connect();
  a.work("s2", 1);
  expect(await a.pass()).toMatchObject({ recorded: 6, quiet: undefined });
  expect(readStatus(a.capture).trouble).toBeNull();
});

it("reads from no earlier and of no other agents before those are said anew", async () => {
  const a = await startAgent({ since: 0 });
  writeSetting(a.capture, "agents", ["codex"]);
  a.work("s1", 1);
  const b = await startServer();
  await bind(a.capture, { url: b.url, code: await b.code() });
  expect(await a.pass()).toMatchObject({ recorded: 0 });
  writeSetting(a.capture, "agents", ["claude-code"]);
  a.advance(-MINUTE_MS);
  a.work("s2", 1);
  a.advance(MINUTE_MS);
  expect(await a.pass()).toMatchObject({ recorded: 6 });
});

it("a policy that is off in one team does not apply to the next", async () => {
  const a = await startAgent();
  await a.server.policy("off");
  expect(await a.pass()).toMatchObject({ quiet: "policy" });
  const b = await startServer();
  await bind(a.capture, { url: b.url, code: await b.code() });
  a.advance(MINUTE_MS);
  a.work("s1", 1);
  expect(await a.pass()).toMatchObject({ recorded: 6, quiet: undefined });
});

it("what waits when the policy becomes stricter leaves without its text", async () => {
  const a = await startAgent();
  a.work("s1", 1);
  await a.pass();
  await a.server.unplug();
  a.work("s1", 2, 1);
  await a.pass();
  await a.server.policy("metadata");
  await a.server.plug();
  const bodies: string[] = [];
  a.server.between = (path, answer, body) => {
    if (path === INGEST || path === TRACES) bodies.push(body);
    return answer();
  };
  a.work("s1", 1, 3);
  await a.pass();
  expect(bodies.length).toBeGreaterThan(1);
  expect(bodies.join("\n")).not.toMatch(/Do s1|I do s1|make s1|done s1/);
  // The server had nothing to withhold, and keeps what it had before.
  expect(a.server.rows("SELECT * FROM policy_violations")).toEqual([]);
  expect(promptsAt(a)).toEqual(["Do s1-0", undefined, undefined, undefined]);
  expect(heldOf(a.server, deviceOf(a)).entries).toHaveLength(12);
  expect(a.server.verify()).toEqual([]);
});
