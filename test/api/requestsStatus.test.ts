import { describe, expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import {
  changeRequest,
  mergeRequest,
  STATUSES,
  unmergeRequest,
} from "../../src/share/feature-requests/feature-requests.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";

const PATH = "/api/requests/status";
const ask = (t: TestInstance, ...ids: string[]) => t.get(`${PATH}?ids=${ids.join(",")}`);

async function start() {
  const t = await startInstance({ settings: { limitRequestIntake: "off" } });
  return {
    t,
    core: t.instance.core,
    file: async (text = "a") => (await t.post("/api/requests/ingest", { json: { text } })).body.id as string,
  };
}

describe("requestsStatus", () => {
  it("tells the status of known ids in the order asked, leaves unknown ones out, and says nothing else", async () => {
    const { t, core, file } = await start();
    const [one, two] = [await file(), await file()];
    await changeRequest(core, two, { status: "planned", note: "secret plan" }, COMMAND_LINE);
    const answer = await ask(t, two, "req_unknown", one, two);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.body).toEqual({
      ok: true,
      statuses: [
        { id: two, status: "planned" },
        { id: one, status: "received" },
      ],
    });
    expect((await ask(t, "req_unknown")).body).toEqual({ ok: true, statuses: [] });
  });

  it("follows every change at once", async () => {
    const { t, core, file } = await start();
    const id = await file();
    for (const status of STATUSES) {
      await changeRequest(core, id, { status }, COMMAND_LINE);
      expect((await ask(t, id)).body.statuses).toEqual([{ id, status }]);
    }
  });

  it("answers a merged request with the status of what it was merged into, however far, until that is taken back", async () => {
    const { t, core, file } = await start();
    const [a, b, c] = [await file(), await file(), await file()];
    await changeRequest(core, a, { status: "declined" }, COMMAND_LINE);
    await mergeRequest(core, a, b, COMMAND_LINE);
    await mergeRequest(core, b, c, COMMAND_LINE);
    await changeRequest(core, c, { status: "shipped" }, COMMAND_LINE);
    expect((await ask(t, a, b, c)).body.statuses).toEqual([a, b, c].map((id) => ({ id, status: "shipped" })));
    await unmergeRequest(core, a, COMMAND_LINE);
    expect((await ask(t, a)).body.statuses).toEqual([{ id: a, status: "declined" }]);
  });

  it("takes a hundred ids, of any length that is allowed, and no more", async () => {
    const { t, file } = await start();
    const known = await file();
    const ids = [...Array.from({ length: 99 }, (_, i) => `req_${String(i).padStart(128, "-")}`), known];
    expect((await ask(t, ...ids)).body).toEqual({ ok: true, statuses: [{ id: known, status: "received" }] });
    expect((await ask(t, ...ids, "req_x")).status).toBe(400);
  });

  it.each([
    ["no ids", ""],
    ["an empty list", "?ids="],
    ["a list that ends with a comma", "?ids=req_a,"],
    ["an empty id", "?ids=req_"],
    ["an id of another kind", "?ids=team_a"],
    ["a good id and a bad one", "?ids=req_a,b"],
    ["an id that is too long", `?ids=req_${"a".repeat(129)}`],
    ["an id with a dot", "?ids=req_a.b"],
    ["an id with a line break", "?ids=req_a%0A"],
    ["a space behind the comma", "?ids=req_a,%20req_b"],
    ["ids given twice", "?ids=req_a&ids=req_b"],
    ["SQL", "?ids=req_a'%20OR%201=1--"],
  ])("refuses %s with 400", async (_, query) => {
    const t = await startInstance();
    const answer = await t.get(PATH + query);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ ok: false, error: expect.any(String) });
  });

  it("may be asked sixty times a minute from an address, and says on every reply how often still", async () => {
    const t = await startInstance();
    const first = await ask(t, "req_a");
    expect(first.headers.get("ratelimit-limit")).toBe("60");
    expect(first.headers.get("ratelimit-remaining")).toBe("59");
    expect(first.headers.get("ratelimit-policy")).toBe("request-status;q=60;w=60");
    for (let i = 1; i < 60; i++) expect((await ask(t, "req_a")).status).toBe(200);
    const limited = await ask(t, "req_a");
    expect([limited.status, limited.body]).toEqual([429, { ok: false, error: expect.any(String) }]);
    expect(limited.headers.get("retry-after")).toBe("1");
    // Intake has a quota of its own.
    expect((await t.post("/api/requests/ingest", { json: { text: "a" } })).status).toBe(200);
  });
});
