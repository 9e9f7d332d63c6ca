import { once } from "node:events";
import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { type Started, startProcess } from "../support/dev.ts";

const OPERATION = { operationId: "telemetryIngest" };
const BODY = JSON.stringify({ entries: [{ seq: 1, payload: { type: "prompt", text: "once" } }] });

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of any shape
async function control(t: Started, route: string, body?: object): Promise<any> {
  const init = body ? { method: "POST", body: JSON.stringify(body) } : {};
  return (await fetch(`${t.controlUrl}/${route}`, init)).json();
}

interface Got {
  readonly status?: number | undefined;
  readonly told?: number;
  readonly text: string;
  readonly error?: string | undefined;
}

/** What a client of Node's own sees of a delivery: as much of the reply as came, and how it ended. */
async function deliver({ baseUrl, deviceToken }: Started): Promise<Got> {
  const asked = request(`${baseUrl}/api/telemetry/ingest`, {
    method: "POST",
    agent: false,
    headers: { authorization: `Bearer ${deviceToken}`, "content-type": "application/json" },
  });
  asked.end(BODY);
  let text = "";
  let head: { status?: number | undefined; told?: number } = {};
  try {
    const [reply] = await once(asked, "response");
    head = { status: reply.statusCode, told: Number(reply.headers["content-length"]) };
    for await (const part of reply.setEncoding("utf8")) text += part;
    return { ...head, text };
  } catch (error) {
    return { ...head, text, error: (error as NodeJS.ErrnoException).code };
  }
}

const journalled = async (t: Started) => (await control(t, "journal")).entries.at(-1);

describe("a reply's way, over a socket", () => {
  it("is cut before a reply, with the work done or not, as often as planned", async () => {
    const t = await startProcess(["--empty"]);
    await control(t, "faults", { ...OPERATION, status: 503, drop: true });
    expect(await deliver(t)).toEqual({ text: "", error: "ECONNRESET" });
    expect((await control(t, "state")).counts.telemetryEntries).toBe(0);
    await control(t, "faults", { ...OPERATION, drop: true, times: 2 });
    expect(await deliver(t)).toEqual({ text: "", error: "ECONNRESET" });
    expect((await control(t, "state")).counts.telemetryEntries).toBe(1);
    expect(await deliver(t)).toEqual({ text: "", error: "ECONNRESET" });
    expect(await journalled(t)).toMatchObject({ status: 200, injected: false, wire: { drop: true } });
    // A retry changes nothing.
    expect(await deliver(t)).toMatchObject({ status: 200 });
    expect((await control(t, "state")).counts.telemetryEntries).toBe(1);
  });

  it("breaks a body off where it is told to", async () => {
    const t = await startProcess(["--empty"]);
    for (const bytes of [0, 7]) {
      await control(t, "faults", { ...OPERATION, truncate: bytes });
      const got = await deliver(t);
      expect(got).toMatchObject({ status: 200, error: "ECONNRESET" });
      expect(got.text.length).toBe(bytes);
      expect(got.told).toBeGreaterThan(20);
    }
    await control(t, "faults", { ...OPERATION, truncate: 100_000 });
    const whole = await deliver(t);
    expect([whole.error, JSON.parse(whole.text)]).toMatchObject([undefined, { ok: true }]);
  });

  it("delays a reply by real time, which the journal tells", async () => {
    const t = await startProcess(["--empty", "--freeze"]);
    await control(t, "faults", { ...OPERATION, delayMs: 120 });
    expect(await deliver(t)).toMatchObject({ status: 200 });
    const { ms, wire } = await journalled(t);
    expect(wire).toEqual({ delayMs: 120 });
    expect(ms).toBeGreaterThanOrEqual(119);
    await control(t, "faults", { ...OPERATION, status: 503, delayMs: 5 });
    expect((await deliver(t)).status).toBe(503);
  });

  it("refuses a plan of nothing", async () => {
    const t = await startProcess(["--empty"]);
    expect((await control(t, "faults", OPERATION)).error).toContain("status, delayMs, drop or truncate");
  });
});
