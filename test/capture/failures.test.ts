import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bind } from "../../src/capture/bind.ts";
import { examine, importTranscripts, readStatus } from "../../src/capture/capture.ts";
import { readCredentials } from "../../src/capture/state.ts";
import { DAY_MS, MINUTE_MS } from "../../src/kit/clock.ts";
import { statusLines, troubleLine } from "../../src/surfaces/cli/agent-texts.ts";
import { deviceOf, expectAgreement, flagsOf, heldOf, startAgent, type TestAgent } from "../support/capture.ts";
import { makeRepository, textOf, turn, turns } from "../support/turns.ts";

const INGEST = "/api/telemetry/ingest";
const TRACES = "/api/agent-traces/ingest";

/** What waits on the machine. */
const waitingOf = (agent: TestAgent) => readStatus(agent.capture).waiting;

describe("a server that cannot be reached", () => {
  it("gets everything once when it is back after days, and is left in peace meanwhile", async () => {
    const a = await startAgent();
    a.work("s1", 2);
    await a.pass();
    await a.server.unplug();
    for (let day = 0; day < 3; day++) {
      a.work("s1", 2, 2 + day * 2);
      expect(await a.pass()).toMatchObject({ recorded: 12, stopped: expect.any(String) });
      expect(Date.parse(readStatus(a.capture).trouble?.until ?? "")).toBeGreaterThan(a.server.clock.now());
      a.advance(DAY_MS);
    }
    expect(waitingOf(a)).toMatchObject({ sessions: 1, entries: 18 });
    await a.server.plug();
    expect(await a.pass({})).toMatchObject({ stopped: undefined });
    expectAgreement(a);
    expect(waitingOf(a)).toMatchObject({ sessions: 0, entries: 0 });
    expect(heldOf(a.server, deviceOf(a)).entries).toHaveLength(24);
  });

  it("is asked again after 5 seconds, then ever more seldom, an hour apart at most", async () => {
    const a = await startAgent();
    a.work("s1", 1);
    await a.server.unplug();
    const pauses: number[] = [];
    for (let i = 0; i < 14; i++) {
      const { retryInMs = 0 } = await a.pass({});
      pauses.push(retryInMs);
      a.advance(retryInMs - 1);
      const before = a.server.asked.length;
      expect((await a.pass({})).retryInMs).toBeUndefined();
      expect(a.server.asked).toHaveLength(before);
      a.advance(1);
    }
    const nominal = pauses.map((_, i) => Math.min(3_600_000, 5_000 * 2 ** i));
    for (const [i, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual((nominal[i] as number) * 0.75);
      expect(pause).toBeLessThanOrEqual((nominal[i] as number) * 1.25);
    }
  });
});

describe("a server that cannot take it now", () => {
  it.each([
    ["telemetryIngest", 429, 90],
    ["agentTracesIngest", 429, 90],
    ["getPolicy", 503, 90],
    ["telemetryIngest", 500, undefined],
    ["telemetryIngest", 503, 7_200],
    ["agentTracesIngest", 503, 33],
    ["telemetryHeartbeat", 503, undefined],
  ] as const)(
    "%s answers %i: all waits, for as long as it asks, and arrives once",
    async (operationId, status, retryAfter) => {
      const a = await startAgent();
      a.work("s1", 2);
      await a.pass();
      a.work("s1", 2, 2);
      a.advance(20 * MINUTE_MS);
      await a.server.fault(operationId, status, 1, retryAfter === undefined ? {} : { retryAfter });
      const { stopped, retryInMs = 0 } = await a.pass({});
      expect(stopped).toBeTypeOf("string");
      expect(retryInMs).toBeGreaterThanOrEqual((retryAfter ?? 3.75) * 1000);
      const before = a.server.asked.length;
      a.advance(retryInMs - 1);
      await a.pass({});
      expect(a.server.asked).toHaveLength(before);
      a.advance(1);
      expect(await a.pass({})).toMatchObject({ stopped: undefined });
      expectAgreement(a);
    },
  );
});

it("a person waits, too, where the server said for how long, and is told until when", async () => {
  const a = await startAgent();
  a.work("s1", 2);
  await a.server.fault("telemetryIngest", 429, 1, { retryAfter: 90 });
  const until = new Date(a.server.clock.now() + 90_000).toISOString();
  expect((await a.pass()).stopped).toContain("Too many requests");
  const before = a.server.asked.length;
  a.advance(89_999);
  a.work("s1", 2, 2);
  expect(await a.pass()).toMatchObject({ stopped: expect.stringContaining(`not before ${until}`) });
  expect(a.server.asked).toHaveLength(before);
  a.advance(1);
  expect(await a.pass()).toMatchObject({ stopped: undefined });
  expectAgreement(a);
});

it("a person need not wait for a pause that the server did not ask for", async () => {
  const a = await startAgent();
  a.work("s1", 2);
  await a.server.fault("telemetryIngest", 500);
  expect((await a.pass()).stopped).toBeTypeOf("string");
  expect(await a.pass()).toMatchObject({ stopped: undefined });
  expectAgreement(a);
});

it("a person waits for no pause of the server that ended, or that a clock which goes back would make longer", async () => {
  const a = await startAgent();
  a.work("s1", 2);
  await a.server.fault("telemetryIngest", 500);
  expect((await a.pass()).stopped).toBeTypeOf("string");
  a.advance(MINUTE_MS);
  expect(await a.pass()).toMatchObject({ stopped: undefined });
  for (const [retryAfter, waits] of [
    [90, 91_000],
    [90, 0],
  ] as const) {
    a.work("s1", 2, retryAfter + waits);
    await a.server.fault("telemetryIngest", 429, 1, { retryAfter });
    expect((await a.pass()).stopped).toContain("Too many requests");
    a.advance(waits);
    if (waits > 0) expect(await a.pass()).toMatchObject({ stopped: undefined });
    a.server.clock.jump(-MINUTE_MS - waits);
    a.work("s1", 2, retryAfter + waits + 2);
    expect(await a.pass()).toMatchObject({ stopped: undefined });
  }
  expectAgreement(a);
});

it("an import asks nothing of a server that is to be left in peace, and its pause ends with the binding", async () => {
  const a = await startAgent();
  a.work("s1", 2);
  await a.server.fault("telemetryIngest", 429, 1, { retryAfter: 90 });
  expect((await a.pass()).stopped).toContain("Too many requests");
  const before = a.server.asked.length;
  const path = join(a.home, "other.jsonl");
  writeFileSync(path, textOf(turns("s2", 1, a.server.clock.now(), 1, join(a.home, "shop"))));
  expect(await importTranscripts(a.capture, [path], undefined, () => {})).toMatchObject([{ problem: null }]);
  expect(await a.pass()).toMatchObject({ stopped: expect.stringContaining("not before") });
  expect(a.server.asked).toHaveLength(before);
  await a.connect();
  expect(await a.pass()).toMatchObject({ stopped: undefined });
});

describe("a batch", () => {
  const html = { "content-type": "text/html" };

  it.each([
    [
      "too much for a slow line",
      () => Response.json({ error: "The request took too long to arrive." }, { status: 408 }),
      "The request took too long to arrive",
    ],
    [
      "more than a proxy takes",
      () => new Response("<h1>413</h1>", { status: 413, headers: html }),
      "a proxy on the way to the server takes less at once than this (413)",
    ],
  ])(
    "that is %s is sent in pieces; what fits into no piece waits, and holds nothing else up",
    async (_, refuse, reason) => {
      const a = await startAgent();
      const at = a.server.clock.now();
      const work = (n: number, said: object) => turn({ session: `s${n}`, n, cwd: `${a.home}/shop`, at, ...said });
      for (let n = 0; n < 12; n++) a.write(`s${n}`, ...work(n, { output: "word ".repeat(20_000) }));
      // A session's prompts are sent together.
      for (let n = 12; n < 32; n++) a.write("s12", ...work(12, { n, prompt: `${n} ${"plan ".repeat(3_200)}` }));
      a.work("s13", 1, 99);
      a.server.between = (_, answer, body) => (body.length > 150 * 1024 ? refuse() : answer());
      expect(await a.pass()).toMatchObject({ stopped: reason });
      expect(readStatus(a.capture)).toMatchObject({
        waiting: { sessions: 1, entries: 0 },
        rejected: 0,
        trouble: { reason },
      });
      const { sessions, spans } = heldOf(a.server, deviceOf(a));
      expect(sessions).toHaveLength(14);
      expect(spans.filter(({ session }) => session !== "s12")).toHaveLength(39);
      expect(a.server.asked).toContain("/api/telemetry/heartbeat");
      a.server.between = undefined;
      a.advance(MINUTE_MS);
      expect(await a.pass({})).toMatchObject({ stopped: undefined });
      expectAgreement(a);
      expect(JSON.parse(heldOf(a.server, deviceOf(a)).sessions[4]?.document ?? "").prompts).toHaveLength(20);
    },
  );
});

describe("a batch that is refused", () => {
  /** Refuses whatever holds a word. */
  const refusing = (a: TestAgent, path: string, word: string, status: number) => {
    a.server.between = (asked, answer, body) =>
      asked === path && body.includes(word)
        ? Response.json({ error: "malformed" }, { status, headers: { "service-api-version": "1" } })
        : answer();
  };

  it.each([400, 413])(
    "with %i is halved; the entry at fault stays here, and a note is sent under its number",
    async (status) => {
      const a = await startAgent();
      a.work("s1", 3);
      a.write(
        "s1",
        ...turn({
          session: "s1",
          n: 50,
          cwd: `${a.home}/shop`,
          at: a.server.clock.now() + 60_000,
          prompt: "poison",
        }),
      );
      a.work("s1", 3, 60);
      refusing(a, INGEST, "poison", status);
      await a.pass();
      expect(flagsOf(a.server)).toEqual({ gaps: 0, rollbacks: 0 });
      const { entries } = heldOf(a.server, deviceOf(a));
      expect(entries.map(({ seq }) => seq)).toEqual(Array.from(entries, (_, i) => i + 1));
      expect(entries).toHaveLength(21);
      const notes = entries.filter(({ payload }) => JSON.parse(payload).type === "rejected");
      expect(notes).toHaveLength(1);
      expect(a.capture.db.prepare("SELECT kind, body FROM rejected").all()).toEqual([
        { kind: "telemetry", body: expect.stringContaining("poison") },
      ]);
      expect(readStatus(a.capture)).toMatchObject({ rejected: 1, waiting: { entries: 0 } });
      expectAgreement(a);
    },
  );

  it("of sessions loses nothing but the span at fault", async () => {
    const a = await startAgent();
    a.work("s1", 3);
    a.work("s2", 3);
    refusing(a, TRACES, "make s1-1", 400);
    await a.pass();
    const { spans } = heldOf(a.server, deviceOf(a));
    const here = a.capture.db.prepare("SELECT session, id, body AS document FROM spans ORDER BY 1, 2").all();
    expect(here).toHaveLength(18);
    expect(spans).toEqual((here as { id: string }[]).filter(({ id }) => id !== "toolu_s1-1"));
    expect(readStatus(a.capture)).toMatchObject({ rejected: 1, waiting: { sessions: 0, entries: 0 } });
  });

  it("because of its repository's name holds up no other repository", async () => {
    const a = await startAgent();
    makeRepository(`${a.home}/odd`, `github.com/acme/${"x".repeat(600)}`);
    a.work("s1", 2, 0, "odd");
    a.work("s2", 2);
    await a.pass();
    const { entries, sessions } = heldOf(a.server, deviceOf(a));
    expect(entries).toHaveLength(12);
    expect(sessions).toHaveLength(2);
    expectAgreement(a);
  });

  it("by something that is not Reckon does not count as refused, and waits", async () => {
    for (const status of [400, 401, 403, 404, 422]) {
      const a = await startAgent();
      a.work("s1", 1);
      await a.pass();
      a.work("s1", 1, 1);
      a.server.between = () => new Response("<h1>No</h1>", { status, headers: { "content-type": "text/html" } });
      expect(await a.pass()).toMatchObject({ stopped: "something other than Reckon answers at this address" });
      expect(readStatus(a.capture)).toMatchObject({ rejected: 0, waiting: { entries: 3 } });
      a.server.between = undefined;
      expect(await a.pass()).toMatchObject({ stopped: undefined });
      expectAgreement(a);
    }
  });

  it.each([404, 405, 409, 422])(
    "with %i, which does not concern its content, waits, and the reason is told",
    async (status) => {
      const a = await startAgent();
      a.work("s1", 1);
      a.server.between = (path, answer) =>
        path === INGEST
          ? Response.json({ error: "odd" }, { status, headers: { "service-api-version": "1" } })
          : answer();
      expect(await a.pass()).toMatchObject({ stopped: "odd" });
      expect(readStatus(a.capture)).toMatchObject({ rejected: 0, waiting: { entries: 3 }, trouble: { reason: "odd" } });
      a.server.between = undefined;
      await a.pass();
      expectAgreement(a);
    },
  );
});

describe("a token that is refused", () => {
  it("by a server that was started on other data by mistake is tried again an hour later", async () => {
    const a = await startAgent();
    a.work("s1", 2);
    await a.pass();
    a.server.between = () =>
      Response.json(
        { error: "The bearer token is not valid." },
        { status: 401, headers: { "service-api-version": "1" } },
      );
    a.work("s1", 2, 2);
    expect(await a.pass()).toMatchObject({ recorded: 12, stopped: "The bearer token is not valid" });
    a.server.between = undefined;
    a.advance(60 * MINUTE_MS);
    expect(await a.pass({})).toMatchObject({ stopped: undefined });
    expect(readStatus(a.capture)).toMatchObject({ trouble: null, waiting: { entries: 0, sessions: 0 } });
    expectAgreement(a);
  });

  it.each([
    ["when a person asks for a pass", async () => {}, { force: true }],
    ["once the doctor saw that it is taken", (a: TestAgent) => examine(a.capture), {}],
  ])("and taken again is used at once %s", async (_, look, options) => {
    const a = await startAgent();
    a.work("s1", 1);
    await a.server.fault("telemetryIngest", 401);
    const { stopped } = await a.pass();
    expect(await a.pass({})).toMatchObject({ stopped });
    await look(a);
    expect(await a.pass(options)).toMatchObject({ stopped: undefined });
    expect(readStatus(a.capture).trouble).toBeNull();
    expectAgreement(a);
  });

  it.each([
    ["revoke", 401],
    ["expire", 403],
  ])(
    "(%s) stops everything and says so; a new code sends what waits, once, in a stream that begins at 1",
    async (how) => {
      const a = await startAgent();
      a.work("s1", 2);
      await a.pass();
      const old = deviceOf(a);
      if (how === "revoke") await a.server.revoke(old);
      else a.advance(91 * DAY_MS);
      a.work("s1", 2, 2);
      const { stopped } = await a.pass();
      expect(stopped).toBeTypeOf("string");
      expect(readStatus(a.capture).trouble).toEqual({ reason: stopped, until: null });
      expect(statusLines(readStatus(a.capture)).match(/new code/g)).toHaveLength(1);
      const { message } = (await examine(a.capture)).find(({ state }) => state === "failed") ?? expect.fail();
      expect(message.match(/connect (?:it )?again/g)).toHaveLength(1);
      const before = a.server.asked.length;
      a.work("s1", 2, 4);
      expect(await a.pass({})).toMatchObject({ recorded: 12, stopped });
      expect(a.server.asked).toHaveLength(before);
      expect(waitingOf(a)).toMatchObject({ entries: 12, sessions: 1 });
      await bind(a.capture, { url: a.server.url, code: await a.server.code() });
      expect(await a.pass()).toMatchObject({ stopped: undefined });
      expect(deviceOf(a)).not.toBe(old);
      expectAgreement(a);
      const [first, second] = [heldOf(a.server, old), heldOf(a.server, deviceOf(a))];
      expect(first.entries).toHaveLength(6);
      expect(second.entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
      expect(new Set([...first.entries, ...second.entries].map(({ payload }) => payload)).size).toBe(18);
      expect(readStatus(a.capture).trouble).toBeNull();
    },
  );

  it("is noticed when the policy is asked for, before anything was recorded", async () => {
    const a = await startAgent();
    await a.server.revoke(deviceOf(a));
    a.work("s1", 1);
    const { stopped, recorded } = await a.pass();
    expect([recorded, readStatus(a.capture).trouble?.reason]).toEqual([0, stopped]);
    expect(stopped).toBeTypeOf("string");
    await bind(a.capture, { url: a.server.url, code: await a.server.code() });
    expect(await a.pass()).toMatchObject({ recorded: 6 });
    expectAgreement(a);
  });
});

describe("a tier that does not include a kind", () => {
  it.each([
    ["telemetryIngest", INGEST, { entries: 0, spans: 6 }],
    ["agentTracesIngest", TRACES, { entries: 6, spans: 0 }],
  ])(
    "lets that kind rest for a day (%s) unless a person asks, and goes on with the other",
    async (operationId, path, held) => {
      const a = await startAgent();
      a.work("s1", 2);
      await a.server.fault(operationId, 402);
      const result = await a.pass();
      expect(result).toMatchObject({ stopped: undefined, waits: expect.stringMatching(/./) });
      expect(troubleLine(result)).toBe(`Not everything was sent: ${result.waits?.replace(/\.$/, "")}. It waits here.`);
      const sending = async () => (await examine(a.capture)).filter(({ name }) => name === "sending");
      expect(await sending()).toMatchObject([{ state: "warning", message: expect.stringContaining("; next try 20") }]);
      const { entries, spans } = heldOf(a.server, deviceOf(a));
      expect({ entries: entries.length, spans: spans.length }).toEqual(held);
      const asked = () => a.server.asked.filter((one) => one === path).length;
      const before = asked();
      a.advance(DAY_MS - 1);
      await a.pass({});
      expect(asked()).toBe(before);
      await a.server.fault(operationId, 402);
      await a.pass();
      expect(asked()).toBe(before + 1);
      a.advance(DAY_MS);
      expect(troubleLine(await a.pass({}))).toBe("");
      expect(await sending()).toEqual([]);
      expectAgreement(a);
    },
  );

  it("is tried again at once where a person asks, as after the tier was changed", async () => {
    const a = await startAgent();
    a.work("s1", 2);
    await a.server.fault("telemetryIngest", 402);
    await a.server.fault("agentTracesIngest", 402);
    await a.server.fault("brainIngest", 402);
    expect(troubleLine(await a.pass())).not.toBe("");
    expect(troubleLine(await a.pass())).toBe("");
    expectAgreement(a);
  });
});

describe("a token's replacement", () => {
  const tokenOf = (a: TestAgent) => readCredentials(a.capture.places)?.token;

  it("happens after 60 of its 90 days, and the old one is not used again", async () => {
    const a = await startAgent();
    const first = tokenOf(a);
    a.advance(60 * DAY_MS - MINUTE_MS);
    a.work("s1", 1);
    await a.pass();
    expect(tokenOf(a)).toBe(first);
    a.advance(MINUTE_MS);
    a.work("s1", 1, 1);
    await a.pass();
    expect(tokenOf(a)).not.toBe(first);
    expect(readCredentials(a.capture.places)?.expiresAt).toBe(
      new Date(a.server.clock.now() + 90 * DAY_MS).toISOString(),
    );
    a.advance(59 * DAY_MS);
    a.work("s1", 1, 2);
    expect(await a.pass()).toMatchObject({ stopped: undefined });
    expectAgreement(a);
  });

  it("happens while nothing is recorded, too", async () => {
    const a = await startAgent();
    await a.server.policy("off");
    const first = tokenOf(a);
    a.advance(61 * DAY_MS);
    await a.pass();
    expect(tokenOf(a)).not.toBe(first);
  });

  it("whose reply was lost (409) needs a person, and loses nothing", async () => {
    const a = await startAgent();
    a.work("s1", 1);
    await a.pass();
    a.advance(61 * DAY_MS);
    a.server.between = async (path, answer) => {
      const reply = await answer();
      return path === "/api/connect/rotate" ? new Response("", { status: 502 }) : reply;
    };
    a.work("s1", 1, 1);
    await a.pass();
    a.server.between = undefined;
    a.advance(2 * DAY_MS);
    a.work("s1", 1, 2);
    const { stopped } = await a.pass();
    expect(stopped).toBeTypeOf("string");
    expect(readStatus(a.capture).trouble?.reason).toBe(stopped);
    await bind(a.capture, { url: a.server.url, code: await a.server.code() });
    await a.pass();
    expectAgreement(a);
    expect(heldOf(a.server, deviceOf(a)).entries).toHaveLength(3);
  });

  it("refused with 409 is told", async () => {
    const a = await startAgent();
    a.advance(61 * DAY_MS);
    await a.server.fault("connectRotate", 409);
    a.work("s1", 1);
    const { stopped } = await a.pass();
    expect(stopped).toBeTypeOf("string");
    expect(readStatus(a.capture).trouble).toEqual({ reason: stopped, until: null });
  });
});

describe("a reply that does not come", () => {
  it.each([INGEST, TRACES])("of %s: what the server took is not there twice", async (path) => {
    const a = await startAgent();
    a.work("s1", 4);
    let lost = 0;
    a.server.between = async (asked, answer) => {
      const isLost = asked === path && lost < 2;
      const reply = await answer();
      if (!isLost) return reply;
      // The first request only asks for the stream's state; the second is the first that stores.
      lost++;
      return new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("cut")) }), {
        headers: reply.headers,
      });
    };
    for (let i = 0; i < 3; i++) {
      a.work("s1", 1, 10 + i);
      await a.pass();
    }
    expect(lost).toBe(2);
    expectAgreement(a);
  });

  it("of a connect code says that the code may be used up", async () => {
    const a = await startAgent({ connected: false });
    const lose = async (_: string, answer: () => Promise<Response>) =>
      new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("cut")) }), {
        headers: (await answer()).headers,
      });
    const binding = { url: a.server.url, code: await a.server.code() };
    a.server.between = lose;
    await expect(bind(a.capture, binding)).rejects.toThrow(
      /cut before the server had answered; try again, and ask for another code where this one is refused then$/,
    );
    expect(readStatus(a.capture).connected).toBe(false);
    a.server.between = undefined;
    await expect(bind(a.capture, binding)).rejects.toThrow(/This connect code was used already.*Mint another$/);
    await a.connect();
    a.work("s1", 1);
    await a.pass();
    expectAgreement(a);
  });
});

describe("something else that answers", () => {
  it("with a redirect does not get the token", async () => {
    const a = await startAgent();
    const b = await startAgent();
    a.work("s1", 1);
    a.server.between = (path) => Response.redirect(b.server.url + path, 307);
    const before = b.server.asked.length;
    expect((await a.pass()).stopped).toMatch(/sends on to/);
    expect(b.server.asked).toHaveLength(before);
    a.server.between = undefined;
    await a.pass();
    expectAgreement(a);
  });

  it.each([
    ["HTML", new Headers({ "content-type": "text/html" }), "<html>Sign in to the network</html>"],
    ["JSON", new Headers({ "content-type": "application/json" }), '{"ok":true,"maxSeq":0,"accepted":1}'],
    ["half a reply", new Headers({ "content-type": "application/json", "service-api-version": "1" }), '{"ok":tr'],
  ])("with 200 and %s is not taken for an answer", async (_, headers, text) => {
    const a = await startAgent();
    a.work("s1", 1);
    await a.pass();
    a.work("s1", 1, 1);
    a.server.between = () => new Response(text, { headers });
    expect((await a.pass()).stopped).toBeTypeOf("string");
    expect(waitingOf(a)).toMatchObject({ sessions: 1, entries: 3 });
    a.server.between = undefined;
    await a.pass();
    expectAgreement(a);
  });

  it("with 304 to what was sent is not taken for an answer", async () => {
    const a = await startAgent();
    a.work("s1", 1);
    a.server.between = (path, answer) =>
      path === TRACES || path === INGEST ? new Response(null, { status: 304 }) : answer();
    expect((await a.pass()).stopped).toBeTypeOf("string");
    expect(waitingOf(a)).toMatchObject({ sessions: 1, entries: 3 });
    a.server.between = undefined;
    await a.pass();
    expectAgreement(a);
  });
});
