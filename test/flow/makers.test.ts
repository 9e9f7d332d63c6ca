import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { createCode, renameDevice } from "../../src/identity/devices/devices.ts";
import { issueLicense } from "../../src/identity/license/license.ts";
import { setRole } from "../../src/identity/members/members.ts";
import { createInvitation } from "../../src/identity/one-time-links/one-time-links.ts";
import { getUser, storePerson } from "../../src/identity/people/people.ts";
import { budgetStandings, setBudget } from "../../src/insight/budgets/budgets.ts";
import { createLink, decideLink, findEntry, linksOfEntry } from "../../src/insight/causes/causes.ts";
import type { Defect } from "../../src/insight/defects/defects.ts";
import { type Actor, COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { parsePolicy, setPolicy } from "../../src/record/policy/policy.ts";
import type { resolveTarget } from "../../src/share/erasure/erasure.ts";
import { makeAccount } from "../support/accounts.ts";
import { eraseNow, filesWith } from "../support/erasure.ts";
import { ask, somebody } from "../support/every-page.ts";
import { startInstance, startWithDevice, type TestInstance } from "../support/instance.ts";
import { WITHOUT_BLOCKS } from "../support/older.ts";
import { ERRORS, follow, publish, session, trace } from "../unit/causes/support.ts";

const FORMER = "zinnia@acme.example";
const LATER = "marigold@acme.example";

const rename = ({ instance: { core } }: TestInstance, id: string, email: string) =>
  core.store.write(() => storePerson(core, getUser(core, id), { email, name: null }, COMMAND_LINE));

const erase = async ({ instance: { core } }: TestInstance, request: Parameters<typeof resolveTarget>[1]) =>
  eraseNow(core, request);

/** Somebody who did one of everything, and somebody else who has had their address since. Both own the team. */
async function twoOfOneAddress() {
  const { t, core, device } = await startWithDevice();
  const { team } = device;
  const viewer = await somebody(t, team, "owner");
  const owner = { email: FORMER, team: { id: team.id, role: "owner" } } as const;
  const first = await makeAccount(core, owner);
  const by: Actor = { kind: "user", id: first.id, label: FORMER, ip: null };
  await setPolicy(core, team.id, parsePolicy('{"captureMode":"full"}'), by);
  await createCode(core, team.id, by);
  await createInvitation(core, { teamId: team.id, role: "member" }, by, "owner");
  await setBudget(core, team.id, { scope: "team", subject: "", period: "month", amountUsd: 5 }, by);
  await trace(t, device, [session("a", 20, { files: ["src/cart.ts"] }), session("b", 20)]);
  await publish(t, device, ["## 2026-11-20 Cart\n\nIn src/cart.ts."]);
  await follow(t);
  const entry = findEntry(core, team.id, { repoKey: "shop", path: ERRORS, heading: "Cart" }) as Defect;
  const computed = linksOfEntry(core, team.id, entry)[0];
  await decideLink(core, team.id, computed?.id ?? "", "confirmed", by);
  await createLink(core, team.id, entry, { sessionId: "b" }, by);
  t.clock.advance(60_000);
  await rename(t, first.id, LATER);
  const second = await makeAccount(core, owner);
  await setPolicy(core, team.id, parsePolicy('{"captureMode":"off"}'), { ...by, id: second.id });
  return { t, device, first, second, viewer, entry };
}

/** What `told` returns when one person made all but the newest policy, and another made that. */
const by = (one: string | undefined, other: string | undefined) => ({
  policies: [other, one],
  inForce: [other],
  ...{ codes: [one], invitations: [one], verdict: [one], cause: [one], budgets: [one] },
});

/** By whom pages and commands say that each thing was made, the newest policy first. */
async function told(
  t: TestInstance,
  { device, viewer, entry }: Omit<Awaited<ReturnType<typeof twoOfOneAddress>>, "t">,
) {
  const read = async (path: string, pattern: RegExp) => {
    const { text } = await ask(t, "GET", path, { as: viewer });
    return [...text.matchAll(pattern)].map(([, who]) => who);
  };
  const who = "([\\w.@-]+)";
  return {
    policies: await read("/policy", new RegExp(`timeline-head"><strong><bdi>${who}`, "g")),
    inForce: await read("/policy", new RegExp(`Put in force by ${who},`, "g")),
    codes: await read("/devices", new RegExp(`the code that ${who} made`, "g")),
    invitations: await read("/people", new RegExp(`${who}<br><small><time`, "g")),
    verdict: await read(`/errors/${entry.id}`, new RegExp(`Confirmed by ${who},`, "g")),
    cause: await read(`/errors/${entry.id}`, new RegExp(`${who} said so\\.`, "g")),
    budgets: (await budgetStandings(t.instance.core, device.team.id)).map(({ createdBy }) => createdBy),
  };
}

it("names the person who made something although somebody else has their address by now", async () => {
  const { t, ...made } = await twoOfOneAddress();
  expect(await told(t, made)).toEqual(by(LATER, FORMER));
});

it("shows in the audit and on licences who has another address now", async () => {
  const { t, device, first, second, viewer } = await twoOfOneAddress();
  const { core } = t.instance;
  const { team } = device;
  const as = (id: string, label: string) => ({ kind: "user", id, label, ip: null }) as const;
  await issueLicense(core, team.id, 5, as(first.id, LATER));
  await rename(t, second.id, "lilac@acme.example");
  await rename(t, first.id, FORMER);
  await setRole(core, team.id, second.id, "viewer", as(first.id, FORMER));
  const { text } = await ask(t, "GET", "/audit", { as: viewer });
  // Whoever set the first policy has that address again; the second was set by whoever had it meanwhile.
  const rows = (pattern: string) => [...text.matchAll(new RegExp(`${pattern}</small>`, "g"))].length;
  expect([rows(`${LATER}<br><small>now ${FORMER}`), rows(`${FORMER}<br><small>now lilac@acme.example`)]).toEqual([
    1, 1,
  ]);
  expect(rows(`${FORMER}<br><small>now ${FORMER}`)).toBe(0);
  // The person whose membership the event is about.
  expect(text).toContain(`<strong><bdi>${FORMER}</bdi></strong> (now lilac@acme.example)`);
  const license = await ask(t, "GET", "/license", { as: viewer });
  expect([license.text.includes(`>${FORMER}<`), license.text.includes(LATER)]).toEqual([true, false]);
});

it("erases each of two people who had one address, in either order, without touching what the other made", async () => {
  for (const turn of [0, 1]) {
    const { t, ...made } = await twoOfOneAddress();
    const { first, second } = made;
    // An invitation ends when its maker is erased.
    const gone = { invitations: [] };
    const marks = { [first.id]: `erased-${first.id}`, [second.id]: `erased-${second.id}` };
    const [sooner, later] = turn === 0 ? [first, second] : [second, first];
    await erase(t, { person: sooner.id });
    expect(await told(t, made)).toEqual(
      turn === 0 ? { ...by(marks[first.id], FORMER), ...gone } : by(LATER, marks[second.id]),
    );
    await erase(t, { person: later.id });
    expect(await told(t, made)).toEqual({ ...by(marks[first.id], marks[second.id]), ...gone });
    for (const email of [FORMER, LATER]) expect([email, filesWith(t.directory, email)]).toEqual([email, []]);
  }
});

it("erases the name of a device from what it stated about an error's cause", async () => {
  const { t, device, viewer, entry } = await twoOfOneAddress();
  const { deviceId, token } = await t.device(device.team);
  await renameDevice(t.instance.core, device.team.id, deviceId, "zinnia's laptop", COMMAND_LINE);
  const json = { repoKey: "shop", file: ERRORS, heading: "Cart", sessionId: "a" };
  const { body } = await t.post("/api/causal-link", { token, json });
  expect(body.link.evidence).toEqual([{ kind: "person", says: "zinnia's laptop said so." }]);
  await erase(t, { device: deviceId });
  const { text } = await ask(t, "GET", `/errors/${entry.id}`, { as: viewer });
  expect(text).toContain(`erased-${deviceId} said so.`);
  expect(filesWith(t.directory, "zinnia's laptop")).toEqual([]);
});

it("attributes what an older database holds to the same people, by the audit, or by an address that only one person had", async () => {
  for (const audit of [true, false]) {
    const { t, ...made } = await twoOfOneAddress();
    await t.close();
    const db = new Sqlite(join(t.directory, "reckon.db"));
    // Schema 39 kept the makers' addresses as they were then.
    db.exec(`
      UPDATE policies SET created_by = '${FORMER}'; UPDATE budgets SET created_by = '${FORMER}';
      UPDATE one_time_links SET created_by = '${FORMER}'; UPDATE connect_codes SET created_by = '${FORMER}' WHERE created_by LIKE 'usr%';
      UPDATE causal_links SET decided_by = '${FORMER}' WHERE decided_by IS NOT NULL;
      UPDATE causal_links SET evidence = json_array(json_object('kind', 'person', 'says', '${FORMER} said so.')) WHERE origin = 'person';
      ALTER TABLE causal_links DROP COLUMN said_by; ALTER TABLE pack_versions ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
      ${audit ? "" : `DELETE FROM audit_events; DELETE FROM memberships WHERE user_id = '${made.second.id}'; DELETE FROM users WHERE id = '${made.second.id}';`}
      ${WITHOUT_BLOCKS} DROP TABLE sso_holders; ALTER TABLE devices DROP COLUMN ends_at; ALTER TABLE connect_codes DROP COLUMN binds_for_ms; DROP INDEX erasures_unreclaimed; ALTER TABLE erasures DROP COLUMN reclaimed_at; PRAGMA user_version = 39;`);
    db.close();
    const newer = await startInstance({ directory: t.directory });
    expect(await told(newer, made)).toEqual(by(LATER, audit ? FORMER : LATER));
    await newer.close();
  }
});
