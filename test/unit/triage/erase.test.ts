import { expect, it } from "vitest";
import { assignDevice } from "../../../src/identity/devices/devices.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import type { resolveTarget } from "../../../src/share/erasure/erasure.ts";
import { resolveScope } from "../../../src/share/export/export.ts";
import { partsOf } from "../../../src/share/export/parts.ts";
import { eraseNow, filesWith } from "../../support/erasure.ts";
import { type Kit, REPO, withTeam } from "./support.ts";

const RULE = "set Path on every cookie.";

async function spokenOf() {
  const kit = await withTeam();
  const bea = await kit.somebody();
  await kit.say([
    { date: "2026-11-10", title: "marigold loop", rule: "marigold rule." },
    { date: "2026-11-09", title: "marigold shared", rule: RULE },
    { date: "2026-11-08", title: "marigold shared too", rule: RULE },
  ]);
  await kit.say([{ date: "2026-11-05", title: "Lavender", rule: RULE }], "other");
  const [own, shared] = [kit.classOf("marigold loop"), kit.classOf("Lavender")];
  for (const [fingerprint, text] of [
    [own, "primrose says it"],
    [shared, "cowslip says it"],
  ] as const) {
    await kit.act(fingerprint, { kind: "comment", text }, bea);
    await kit.act(fingerprint, { kind: "assign", ownerId: bea.id }, kit.ada);
    await kit.act(fingerprint, { kind: "link", url: "https://tracker.example.com/foxglove" }, kit.ada);
  }
  await kit.act(shared, { kind: "resolve" }, bea, { entryId: kit.entryId("marigold shared") });
  return { ...kit, bea, own, shared };
}

async function erase({ core }: Pick<Kit, "core">, target: Parameters<typeof resolveTarget>[1]) {
  await eraseNow(core, target);
}

it("erases what was said of a repository's errors, and keeps what another repository has as well", async () => {
  const kit = await spokenOf();
  const { t, own, shared } = kit;
  const entryId = kit.entryId("marigold shared");
  await kit.act(shared, { kind: "comment", text: "primrose of one" }, kit.bea, { entryId });
  await erase(kit, { repo: REPO });
  for (const text of ["marigold", "primrose"]) expect([text, filesWith(t.directory, text)]).toEqual([text, []]);
  expect(t.count("defects_gone")).toBe(0);
  expect(t.rows("SELECT DISTINCT class FROM triage_events")).toEqual([{ class: shared }]);
  expect(t.rows("SELECT class, entry_id AS entry FROM triage_words")).toEqual([{ class: shared, entry: 0 }]);
  expect(t.rows("SELECT class, title, occurrences FROM triage_classes")).toEqual([
    { class: shared, title: "Lavender", occurrences: 1 },
  ]);
  expect([kit.state(own), kit.standing(shared)?.owner?.id]).toEqual([undefined, kit.bea.id]);
});

it("erases a comment of a class that has no entries any more, too", async () => {
  const kit = await withTeam();
  await kit.say([{ date: "2026-11-10", title: "marigold loop" }]);
  await kit.act(kit.classOf("marigold loop"), { kind: "comment", text: "primrose says it" }, kit.ada);
  await kit.say([]);
  await erase(kit, { repo: REPO });
  for (const text of ["marigold", "primrose"]) expect([text, filesWith(kit.t.directory, text)]).toEqual([text, []]);
  expect([kit.t.count("triage_events"), kit.t.count("triage_classes")]).toEqual([0, 0]);
});

it("removes a person from comments and assignments, and keeps that something was done", async () => {
  const kit = await spokenOf();
  const { t, bea, shared } = kit;
  await erase(kit, { person: bea.label });
  for (const text of ["primrose", "cowslip", bea.label])
    expect([text, filesWith(t.directory, text)]).toEqual([text, []]);
  expect(t.rows("SELECT count(*) AS n FROM triage_words WHERE owner_id IS NOT NULL")).toEqual([{ n: 0 }]);
  expect(kit.timeline(shared)).toEqual([
    `commented by erased-${bea.id}`,
    `assigned by ${kit.ada.label}`,
    `linked by ${kit.ada.label}`,
    `resolved by erased-${bea.id}`,
  ]);
  expect(t.rows("SELECT actor_id, body FROM triage_events WHERE kind = 'commented'")).toEqual(
    Array(2).fill({ actor_id: null, body: null }),
  );
});

it("is in an export of its team, of its repositories and of its author", async () => {
  const { core, device, teamId, bea, own, shared, ada } = await spokenOf();
  await assignDevice(core, device.deviceId, bea.id, COMMAND_LINE);
  const exported = async (request: Parameters<typeof resolveScope>[1]) => {
    const parts = await Array.fromAsync(partsOf(core, resolveScope(core, request)));
    return parts.flatMap((part) => ("lines" in part && part.lines === "triage" ? JSON.parse(part.text) : []));
  };
  const ofTeam = await exported({ team: teamId });
  expect(ofTeam.filter(({ what }) => what === "standing")).toHaveLength(3);
  expect(ofTeam.filter(({ what }) => what === "event")).toHaveLength(7);
  expect(new Set((await exported({ repo: "other" })).map((one) => one.class))).toEqual(new Set([shared]));
  expect(new Set((await exported({ repo: REPO })).map((one) => one.class))).toEqual(new Set([own, shared]));
  const told = (await exported({ person: bea.id })).filter(({ what }) => what === "event");
  expect(told.map(({ kind, actorLabel, body }) => `${kind} ${actorLabel} ${body}`).sort()).toEqual([
    `commented ${bea.label} cowslip says it`,
    `commented ${bea.label} primrose says it`,
    `resolved ${bea.label} null`,
  ]);
  expect((await exported({ person: ada.id })).map(({ what }) => what)).toEqual(Array(4).fill("event"));
});
