import { expect, it } from "vitest";
import { findSessions, freshenSessions } from "../../../src/insight/sessions/sessions.ts";
import { startWithDevice, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { at, follow, linked, publish, SHA, session, trace } from "./support.ts";

/** How many entries the lists put down to each session. */
async function caused(t: TestInstance, { team }: TestDevice) {
  await freshenSessions(t.instance.core);
  await follow(t);
  const { rows } = await findSessions(t.instance.core, team.id);
  return Object.fromEntries(rows.map((row) => [row.externalId, row.caused]));
}

const NAMED = `## 2026-11-20 Cart\n\nBroken since ${SHA.slice(0, 8)}.`;
const made = (id: string, day: number) => session(id, day, { commits: [{ sha: SHA, at: at(day, 12, 40) }] });

it("no longer counts an entry for a session without a repository once the entry names another cause", async () => {
  const { t, device } = await startWithDevice();
  await trace(t, device, [made("s-1", 18)], "");
  await publish(t, device, [NAMED]);
  expect(await linked(t, device)).toEqual(["Cart: s-1 strong"]);
  expect(await caused(t, device)).toEqual({ "s-1": 1 });
  await publish(t, device, ["## 2026-11-20 Cart\n\nNobody knows why."], { version: 2 });
  expect(await linked(t, device)).toEqual([]);
  expect(await caused(t, device)).toEqual({ "s-1": 0 });
});

it("no longer counts an entry that is gone", async () => {
  const { t, device } = await startWithDevice();
  await trace(t, device, [made("s-1", 18)], "");
  await publish(t, device, [NAMED]);
  expect(await caused(t, device)).toEqual({ "s-1": 1 });
  await publish(t, device, [], { version: 2 });
  expect(await caused(t, device)).toEqual({ "s-1": 0 });
});

it("no longer counts an entry for a session that went on in another repository", async () => {
  const { t, device } = await startWithDevice();
  await trace(t, device, [made("s-1", 18)]);
  await publish(t, device, [NAMED]);
  expect(await caused(t, device)).toEqual({ "s-1": 1 });
  await publish(t, device, ["## 2026-11-19 Drawer\n\nOpened twice."], { repoKey: "till" });
  await trace(t, device, [made("s-1", 18)], "till");
  expect(await caused(t, device)).toEqual({ "s-1": 0 });
  expect(await linked(t, device)).not.toContain("Cart: s-1 strong");
});
