import { describe, expect, it } from "vitest";
import {
  attribution,
  type Cause,
  correlate,
  createLink,
  decideLink,
  findEntry,
  type Link,
  linksOfEntry,
  listLinks,
} from "../../../src/insight/causes/causes.ts";
import type { Defect } from "../../../src/insight/defects/defects.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { startWithDevice } from "../../support/instance.ts";
import { at, ERRORS, follow, linked, OTHER, publish, SHA, session, trace } from "./support.ts";

/** Two sessions that touched the file of one entry. */
async function filled() {
  const { t, device } = await startWithDevice();
  await trace(t, device, [
    session("a", 12, { files: ["src/cart.ts"], commits: [{ sha: SHA, at: at(12, 12, 30) }] }),
    session("b", 13, { files: ["src/cart.ts"], agent: "codex" }),
  ]);
  await publish(t, device, ["## 2026-11-20 Cart\n\nIn src/cart.ts."]);
  await follow(t);
  const { core } = t.instance;
  const teamId = device.team.id;
  const entry = findEntry(core, teamId, { repoKey: "shop", path: ERRORS, heading: "2026-11-20 Cart" }) as Defect;
  const say = async (cause: Cause) => createLink(core, teamId, entry, cause, COMMAND_LINE);
  const ofEntry = () => linksOfEntry(core, teamId, entry);
  return { t, device, core, teamId, entry, say, ofEntry };
}

describe("findEntry", () => {
  it("finds an entry by its heading as written, with marks, or by its title", async () => {
    const { core, teamId, entry } = await filled();
    for (const heading of ["2026-11-20 Cart", "## 2026-11-20  Cart ", "Cart"])
      expect(findEntry(core, teamId, { repoKey: "shop", path: ERRORS, heading })?.id).toBe(entry.id);
    for (const other of [{ repoKey: "api" }, { path: "x.md" }, { heading: "Cart 2" }, { ordinal: 1 }])
      expect(findEntry(core, teamId, { repoKey: "shop", path: ERRORS, heading: "Cart", ...other })).toBeUndefined();
    expect(findEntry(core, "team_other", { repoKey: "shop", path: ERRORS, heading: "Cart" })).toBeUndefined();
  });
});

describe("createLink", () => {
  it("outranks even a strong link of the entry", async () => {
    const { t, device, core, teamId } = await filled();
    await publish(t, device, [`## 2026-11-20 Cart\n\nSince ${SHA}.`], { version: 2 });
    expect(await linked(t, device)).toEqual(["Cart: a strong"]);
    const entry = findEntry(core, teamId, { repoKey: "shop", path: ERRORS, heading: "Cart" }) as Defect;
    await createLink(core, teamId, entry, { sessionId: "b" }, COMMAND_LINE);
    expect(attribution(core, teamId).agents).toMatchObject([{ name: "codex", defects: 1 }]);
  });

  it("accepts a commit that no session made, and refuses what cannot be", async () => {
    const { t, device, say } = await filled();
    expect(await say({ commit: OTHER })).toMatchObject({ commit: OTHER, sessionId: null, counts: true });
    expect(await say({ sessionId: "nobody" })).toBe("unknownSession");
    expect(await say({ commit: "xyz" })).toBe("noCommit");
    expect(await say({ sessionId: "b", commit: SHA })).toBe("notMadeBySession");
    await trace(t, device, [session("c", 14, { commits: [`${SHA.slice(0, 10)}ffffff`] })]);
    await follow(t);
    expect(await say({ commit: SHA.slice(0, 8) })).toBe("ambiguousCommit");
    const foreign = await t.device();
    await trace(t, foreign, [session("theirs", 14)]);
    await follow(t);
    expect(await say({ sessionId: "theirs" })).toBe("unknownSession");
  });
});

describe("decideLink", () => {
  it("leaves out a session that somebody ruled out, and puts the entry down to those that are left", async () => {
    const { t, core, teamId, device, ofEntry } = await filled();
    const wrong = ofEntry().find(({ sessionId }) => sessionId === "b") as Link;
    const decided = await decideLink(core, teamId, wrong.id, "rejected", COMMAND_LINE);
    expect(decided).toMatchObject({ verdict: "rejected", decidedBy: "command line", counts: false });
    expect(await linked(t, device)).toEqual(["Cart: a probable"]);
    expect((await listLinks(core, teamId, { rejected: true })).total).toBe(2);
    expect(await correlate(core, teamId)).toEqual({ considered: 1, linked: 1, possible: 0, unlinked: 0 });
    expect(await linked(t, device)).toEqual(["Cart: a probable"]);
    for (let twice = 0; twice < 2; twice++) await decideLink(core, teamId, wrong.id, null, COMMAND_LINE);
    expect(await linked(t, device)).toEqual(["Cart: b weak", "Cart: a weak"]);
    const foreign = await t.device();
    expect(await decideLink(core, foreign.team.id, wrong.id, "rejected", COMMAND_LINE)).toBeUndefined();
    expect(
      t.rows("SELECT action FROM audit_events WHERE action LIKE 'link.%' ORDER BY id").map(({ action }) => action),
    ).toEqual(["link.rejected", "link.reopened"]);
  });

  it("counts a weak link that somebody confirmed, and keeps it when its evidence goes", async () => {
    const { t, core, teamId, device, ofEntry } = await filled();
    const right = ofEntry().find(({ sessionId }) => sessionId === "a") as Link;
    expect(await decideLink(core, teamId, right.id, "confirmed", COMMAND_LINE)).toMatchObject({
      ...{ label: "Caused by", counts: true, band: "weak" },
    });
    expect(attribution(core, teamId).agents).toMatchObject([{ name: "claude-code", defects: 1 }]);
    await publish(t, device, ["## 2026-11-20 Cart\n\nNothing named."], { version: 2 });
    expect(await linked(t, device)).toEqual(["Cart: a weak"]);
  });
});
