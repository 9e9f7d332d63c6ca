import { expect, it } from "vitest";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { examine } from "../../../src/share/maintenance/maintenance.ts";
import { startInstance } from "../../support/instance.ts";

it("that is behind the newest delivery is named by the doctor, and in the log of a server that starts", async () => {
  const t = await startInstance();
  const { token } = await t.device();
  const send = (seq: number) => {
    const entry = { seq, clientTimestamp: "2026-11-21T08:00:00Z", payload: { event: "test" } };
    return t.post("/api/telemetry/ingest", { token, json: { entries: [entry] } });
  };
  const finding = async (of = t) => (await examine(of.instance.core)).find(({ check }) => check === "clock");
  expect((await send(1)).status).toBe(200);
  expect(await finding()).toEqual({ check: "clock", status: "ok", detail: "2026-11-21T08:00:00.000Z" });
  t.clock.jump(40 * DAY_MS);
  expect((await send(2)).status).toBe(200);
  expect(await finding()).toMatchObject({ status: "ok" });
  t.clock.jump(-40 * DAY_MS);
  const detail = "delivery 6 came at 2026-12-31T08:00:00.000Z: the clock is behind, or was ahead then";
  expect(await finding()).toEqual({ check: "clock", status: "warning", detail });
  // What came since says nothing: a clock that is in 1970 dates it so.
  expect((await send(3)).status).toBe(200);
  expect(await finding()).toEqual({ check: "clock", status: "warning", detail });
  await t.close();
  const next = await startInstance({ directory: t.directory, clock: t.clock });
  expect(next.log.join("")).toContain(`"clock_behind","cause":"${detail}"`);
  expect((await next.call("GET", "/api/health")).body.ts).toBe("2026-11-21T08:00:00.000Z");
});
