import { expect, it } from "vitest";
import { setRole, storeMember } from "../../../src/identity/members/members.ts";
import { getUser, storeDisabled } from "../../../src/identity/people/people.ts";
import { type Act, standingOfEntry, timelineOf } from "../../../src/insight/triage/triage.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { person } from "../../support/cli.ts";
import { publish } from "../../support/reads.ts";
import { ERRORS, entry, type Kit, REPO, withTeam } from "./support.ts";

const RULE = "set Path on every cookie.";

async function one() {
  const kit = await withTeam();
  await kit.say([{ date: "2026-11-10", title: "Login loop", rule: RULE, open: true }]);
  return { ...kit, fingerprint: kit.classOf("Login loop") };
}

const stored = ({ t }: Pick<Kit, "t">) => t.rows("SELECT * FROM triage_words");

it("names who did each act, once, and in the audit without what was written", async () => {
  const kit = await one();
  const { fingerprint, ada, t } = kit;
  const bea = await kit.somebody();
  const acts: Act[] = [
    { kind: "assign", ownerId: bea.id },
    { kind: "link", url: "https://tracker.example.com/browse/SHOP-1?x=1#c" },
    { kind: "resolve" },
    { kind: "reopen" },
    { kind: "snooze", until: t.clock.now() + 86_400_000 },
    { kind: "assign", ownerId: null },
    { kind: "link", url: null },
  ];
  for (const what of acts) {
    expect([what, await kit.act(fingerprint, what, ada)]).toEqual([what, true]);
    expect([what, await kit.act(fingerprint, what, bea)]).toEqual([what, false]);
  }
  expect(await kit.act(fingerprint, { kind: "comment", text: " It is the\r\nproxy.\n" }, bea)).toBe(true);
  const by = `by ${ada.label}`;
  expect(kit.timeline(fingerprint)).toEqual([
    ...[`assigned ${by}`, `linked ${by}`, `resolved ${by}`, `reopened ${by}`, `snoozed ${by}`, `unassigned ${by}`],
    ...[`unlinked ${by}`, `commented by ${bea.label}`],
  ]);
  expect(t.rows("SELECT body FROM triage_events WHERE kind = 'commented'")).toEqual([{ body: "It is the\nproxy." }]);
  const audit = t.rows("SELECT action, target_label AS label, detail FROM audit_events WHERE action LIKE 'error.%'");
  expect(audit).toHaveLength(8);
  expect(audit[0]).toEqual({ action: "error.assigned", label: fingerprint, detail: JSON.stringify({ to: bea.id }) });
  expect(JSON.stringify(audit)).not.toMatch(/proxy|tracker\.example/);
  expect(kit.standing(fingerprint)).toMatchObject({ state: "snoozed", owner: null, tracker: null, revision: 7 });
});

it("keeps a comment once that is sent twice at once, and comments of others in between", async () => {
  const kit = await one();
  const { fingerprint, ada } = kit;
  const bea = await kit.somebody();
  const say = (text: string, by = ada) => kit.act(fingerprint, { kind: "comment", text }, by);
  expect(await Promise.all([say("It is the proxy."), say("It is the proxy.")])).toEqual([true, false]);
  expect([await say("It is the proxy.", bea), await say("It is the proxy."), await say("No.")]).toEqual(
    Array(3).fill(true),
  );
  expect(kit.timeline(fingerprint)).toHaveLength(4);
});

it("does not undo what somebody else did meanwhile, unless it is the same", async () => {
  const kit = await one();
  const { fingerprint, ada } = kit;
  const bea = await kit.somebody();
  await kit.act(fingerprint, { kind: "resolve" }, ada, { seen: 0 });
  expect(await kit.act(fingerprint, { kind: "resolve" }, bea, { seen: 0 })).toBe(false);
  await expect(kit.act(fingerprint, { kind: "snooze", until: null }, bea, { seen: 0 })).rejects.toThrow("meanwhile");
  await expect(kit.act(fingerprint, { kind: "assign", ownerId: bea.id }, bea, { seen: 0 })).rejects.toThrow(
    "meanwhile",
  );
  expect(await kit.act(fingerprint, { kind: "comment", text: "Really?" }, bea, { seen: 0 })).toBe(true);
  expect(kit.standing(fingerprint)).toMatchObject({ state: "resolved", owner: null, revision: 1 });
  expect(await kit.act(fingerprint, { kind: "assign", ownerId: bea.id }, bea, { seen: 1 })).toBe(true);
  // Of two at the same instant one is done, and the other is told so.
  const both = await Promise.allSettled([
    kit.act(fingerprint, { kind: "reopen" }, ada, { seen: 2 }),
    kit.act(fingerprint, { kind: "snooze", until: null }, bea, { seen: 2 }),
  ]);
  expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
});

const WRONG: readonly (readonly [Act, string])[] = [
  ...[
    "javascript:alert(1)",
    "http://a.example",
    "https://u:p@a.example",
    "//a.example",
    "",
    `https://a.example/${"x".repeat(500)}`,
  ]
    .concat(["data:text/html,x", "https://", "https://a.example/\u0000", "ftp://a.example"])
    .map((url) => [{ kind: "link", url }, "begins with https://"] as const),
  [{ kind: "comment", text: " \n " }, "1 to 4,000"],
  [{ kind: "comment", text: "x".repeat(4_001) }, "1 to 4,000"],
  [{ kind: "comment", text: "a\u001b[31mb" }, "control characters"],
  [{ kind: "comment", text: "\ud800" }, "control characters"],
  [{ kind: "snooze", until: 1 }, "to come"],
  [{ kind: "snooze", until: Number.NaN }, "to come"],
  [{ kind: "snooze", until: Date.UTC(2030, 1, 1) }, "within a year"],
  [{ kind: "assign", ownerId: "usr_nobody" }, "one of the team's people"],
];

it("refuses an address that is not plain HTTPS, unbounded text, and an owner from another team", async () => {
  const kit = await one();
  const { core } = kit;
  for (const [what, message] of WRONG)
    await expect(kit.act(kit.fingerprint, what, kit.ada), JSON.stringify(what)).rejects.toThrow(message);
  const [stranger, closed] = [await person(kit.t), await person(kit.t)];
  await core.store.write(() => {
    storeMember(core, kit.teamId, closed, "member", kit.ada);
    storeDisabled(core, getUser(core, closed.id), true, kit.ada);
  });
  await setRole(core, (await kit.t.team()).id, stranger.id, "member", COMMAND_LINE);
  for (const { id } of [stranger, closed])
    await expect(kit.act(kit.fingerprint, { kind: "assign", ownerId: id }, kit.ada)).rejects.toThrow("team's people");
  expect([stored(kit), kit.timeline(kit.fingerprint)]).toEqual([[], []]);
  await expect(kit.act("00000000", { kind: "resolve" }, kit.ada)).rejects.toThrow("no such class");
});

it("lets people outrank the file, and treats single entries apart from their class", async () => {
  const kit = await withTeam();
  const loop = { date: "2026-11-10", title: "Login loop", rule: RULE, open: true };
  const second = { date: "2026-11-12", title: "Loop again", rule: RULE };
  await kit.say([loop, { date: "2026-11-11", title: "Recorded" }]);
  const [fingerprint, done] = [kit.classOf("Login loop"), kit.classOf("Recorded")];
  expect([kit.state(fingerprint), kit.state(done)]).toEqual(["open", "resolved"]);
  await kit.act(done, { kind: "reopen" }, kit.ada);
  // A class with a single entry is treated as that entry.
  await kit.act(fingerprint, { kind: "resolve" }, kit.ada, { entryId: kit.entryId("Login loop") });
  expect([kit.state(fingerprint), kit.state(done)]).toEqual(["resolved", "open"]);
  const recorded = { id: kit.entryId("Recorded"), open: false };
  expect(standingOfEntry(kit.core, kit.teamId, done, recorded)).toEqual(kit.standing(done));
  await kit.act(fingerprint, { kind: "reopen" }, kit.ada);
  await kit.say([second, loop]);
  expect(kit.state(done)).toBeUndefined();

  const ids = [kit.entryId("Login loop"), kit.entryId("Loop again")] as const;
  const entries = () =>
    ids.map((id, i) => standingOfEntry(kit.core, kit.teamId, fingerprint, { id, open: i === 0 }).state);
  expect([kit.state(fingerprint), ...entries()]).toEqual(["open", "open", "resolved"]);
  // Some entries of this class are not resolved, whatever else was done to them.
  await kit.act(fingerprint, { kind: "assign", ownerId: kit.ada.id }, kit.ada, { entryId: ids[1] });
  await kit.act(fingerprint, { kind: "resolve" }, kit.ada, { entryId: ids[0] });
  expect([kit.state(fingerprint), ...entries()]).toEqual(["open", "resolved", "resolved"]);
  await kit.act(fingerprint, { kind: "resolve" }, kit.ada, { entryId: ids[1] });
  expect([kit.state(fingerprint), ...entries()]).toEqual(["resolved", "resolved", "resolved"]);
  await kit.act(fingerprint, { kind: "reopen" }, kit.ada, { entryId: ids[1] });
  expect([kit.state(fingerprint), ...entries()]).toEqual(["open", "resolved", "open"]);
  await kit.act(fingerprint, { kind: "resolve" }, kit.ada);
  expect([kit.state(fingerprint), ...entries()]).toEqual(["resolved", "resolved", "resolved"]);
  const say = (id: number) =>
    kit.act(fingerprint, { kind: "comment", text: "Here as well." }, kit.ada, { entryId: id });
  expect([await say(ids[0]), await say(ids[1]), await say(ids[1])]).toEqual([true, true, false]);
  await kit.act(fingerprint, { kind: "snooze", until: null }, kit.ada, { entryId: ids[0] });
  expect(entries()).toEqual(["snoozed", "resolved"]);
  await kit.act(fingerprint, { kind: "reopen" }, kit.ada);
  expect(entries()).toEqual(["open", "resolved"]);
});

it("refuses a class without entries, which stays only where something was said of it", async () => {
  const kit = await withTeam();
  await kit.say([
    { date: "2026-11-10", title: "Login loop", rule: RULE },
    { date: "2026-11-11", title: "Recorded" },
  ]);
  const [fingerprint, other] = [kit.classOf("Login loop"), kit.classOf("Recorded")];
  await kit.act(fingerprint, { kind: "comment", text: "It is the proxy." }, kit.ada);
  // Another team has the same.
  const errors = entry({ date: "2026-11-10", title: "Login loop", rule: RULE });
  await publish(kit.t, await kit.t.device(), { [ERRORS]: errors }, { repoKey: REPO });
  await kit.say([]);
  for (const gone of [fingerprint, other])
    await expect(kit.act(gone, { kind: "resolve" }, kit.ada)).rejects.toMatchObject({ status: 404 });
  expect(kit.t.rows("SELECT class, occurrences FROM triage_classes ORDER BY occurrences")).toEqual([
    { class: fingerprint, occurrences: 0 },
    { class: fingerprint, occurrences: 1 },
  ]);
  expect(stored(kit)).toEqual([]);
});

it("changes the entries of a class with it, and none of another", async () => {
  const kit = await withTeam();
  const titles = ["Loop", "Loop again", "Leak", "Leak again"];
  const ruleOf = (title: string) => (title.startsWith("Loop") ? RULE : "close every file.");
  await kit.say(titles.map((title) => ({ date: "2026-11-10", title, rule: ruleOf(title), open: true })));
  const state = (title: string) =>
    standingOfEntry(kit.core, kit.teamId, kit.classOf(title), { id: kit.entryId(title), open: true }).state;
  for (const title of ["Loop", "Leak"])
    await kit.act(kit.classOf(title), { kind: "resolve" }, kit.ada, { entryId: kit.entryId(title) });
  await kit.act(kit.classOf("Loop"), { kind: "snooze", until: null }, kit.ada);
  expect(titles.map(state)).toEqual(["resolved", "snoozed", "resolved", "open"]);
  await kit.act(kit.classOf("Loop"), { kind: "reopen" }, kit.ada);
  expect(titles.map(state)).toEqual(["open", "open", "resolved", "open"]);
});

it("ends a snooze when the class is resolved again", async () => {
  const kit = await one();
  const { fingerprint, ada, t } = kit;
  await kit.act(fingerprint, { kind: "resolve" }, ada);
  await kit.act(fingerprint, { kind: "snooze", until: t.clock.now() + 86_400_000 }, ada);
  expect(kit.state(fingerprint)).toBe("snoozed");
  expect(await kit.act(fingerprint, { kind: "resolve" }, ada)).toBe(true);
  expect(kit.standing(fingerprint)).toMatchObject({ state: "resolved", snoozedUntil: null });
});

it("shows what was said of an entry, however much was said of its class since", async () => {
  const kit = await withTeam();
  const written = { rule: RULE, open: true };
  await kit.say([
    { ...written, date: "2026-11-10", title: "Login loop" },
    { ...written, date: "2026-11-12", title: "Loop again" },
  ]);
  const fingerprint = kit.classOf("Login loop");
  const entryId = kit.entryId("Login loop");
  await kit.act(fingerprint, { kind: "comment", text: "It is the proxy." }, kit.ada, { entryId });
  for (let n = 1; n <= 201; n++) await kit.act(fingerprint, { kind: "comment", text: `Seen ${n}` }, kit.ada);
  const bodies = (of?: number) => timelineOf(kit.core, kit.teamId, fingerprint, of).map(({ body }) => body);
  expect(bodies(entryId)).toEqual(["It is the proxy."]);
  expect(bodies(0)).toHaveLength(200);
  expect([bodies().length, bodies()[0]]).toEqual([200, "Seen 201"]);
});
