import { expect, it } from "vitest";
import { entriesProjection } from "../../../src/insight/defects/defects.ts";
import { countClasses, standingOfEntry } from "../../../src/insight/triage/triage.ts";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { catchUp } from "../../../src/platform/projections/projections.ts";
import { ERRORS, entry, REPO, withTeam } from "./support.ts";

const RULE = "set Path on every cookie.";
const FIRST = { date: "2026-11-10", title: "Login loop", rule: RULE };
const AGAIN = { date: "2026-11-23", title: "Loop behind the proxy", rule: RULE };

async function resolved() {
  const kit = await withTeam();
  await kit.say([FIRST]);
  const fingerprint = kit.classOf("Login loop");
  await kit.act(fingerprint, { kind: "assign", ownerId: kit.ada.id }, kit.ada);
  await kit.act(fingerprint, { kind: "resolve" }, kit.ada);
  kit.t.clock.advance(2 * DAY_MS);
  return { ...kit, fingerprint };
}

const audited = ({ t }: { t: { rows(sql: string): { action: string }[] } }) =>
  t.rows("SELECT action FROM audit_events WHERE action LIKE 'error.%' ORDER BY id").map(({ action }) => action);

it("opens a class that recurs after it was resolved, once, keeps its owner, and notifies others", async () => {
  const kit = await resolved();
  const { fingerprint, noted, ada } = kit;
  expect(kit.state(fingerprint)).toBe("resolved");
  await kit.say([AGAIN, FIRST]);
  expect(kit.standing(fingerprint)).toMatchObject({ state: "again", isWord: true, owner: { id: ada.id } });
  expect(noted()).toEqual([{ fingerprint, title: "Loop behind the proxy", repo: REPO }]);
  expect(kit.timeline(fingerprint)).toEqual([
    `assigned by ${ada.label}`,
    `resolved by ${ada.label}`,
    "came-again by Reckon",
  ]);
  expect(audited(kit)).toEqual(["error.assigned", "error.resolved", "error.came_again"]);
  // A third entry, and the same file read again, change nothing more.
  await kit.say([{ ...AGAIN, date: "2026-11-24" }, AGAIN, FIRST]);
  kit.core.store.db.exec("DELETE FROM defect_files; DELETE FROM projections WHERE name = 'defects'");
  await catchUp(kit.core, entriesProjection);
  expect([noted().length, kit.state(fingerprint)]).toEqual([1, "again"]);
  await kit.act(fingerprint, { kind: "resolve" }, ada);
  expect(kit.state(fingerprint)).toBe("resolved");
});

it("opens one that was resolved while the clock was a year ahead", async () => {
  const kit = await resolved();
  const { fingerprint, ada, t } = kit;
  await kit.act(fingerprint, { kind: "reopen" }, ada);
  t.clock.jump(365 * 86_400_000);
  await kit.act(fingerprint, { kind: "resolve" }, ada);
  t.clock.jump(-365 * 86_400_000);
  await kit.say([AGAIN, FIRST]);
  expect([kit.state(fingerprint), kit.noted().length]).toEqual(["again", 1]);
});

it("does not count an entry as new that happened earlier and was published later, or was edited, or came back", async () => {
  const kit = await resolved();
  const { fingerprint, noted } = kit;
  await kit.say([{ ...AGAIN, date: "2026-11-09" }], "github.com/acme/old");
  await kit.say([{ ...FIRST, title: "Login loop, explained" }]);
  expect([kit.state(fingerprint), noted()]).toEqual(["resolved", []]);
  const onTheDay = { ...AGAIN, date: "2026-11-21" };
  await kit.say([onTheDay]);
  expect(kit.state(fingerprint)).toBe("again");
  expect(noted().length).toBe(1);
  await kit.act(fingerprint, { kind: "resolve" }, kit.ada);
  // Another device's brain lacks it, and then the first one's is current again.
  await kit.say([]);
  expect(kit.t.rows("SELECT occurrences FROM triage_classes WHERE class = ?", fingerprint)).toEqual([
    { occurrences: 1 },
  ]);
  await kit.say([onTheDay]);
  expect([kit.state(fingerprint), noted().length]).toEqual(["resolved", 1]);
});

it("counts an entry as new whose rule is edited into that of a resolved class", async () => {
  const kit = await resolved();
  await kit.say([FIRST, { date: "2026-11-22", title: "Other" }]);
  const other = kit.classOf("Other");
  expect(kit.state(other)).toBe("resolved");
  await kit.say([FIRST, { date: "2026-11-22", title: "Other", rule: RULE }]);
  expect([kit.state(other), kit.state(kit.fingerprint)]).toEqual([undefined, "again"]);
  expect(kit.noted().map(({ title }) => title)).toEqual(["Other"]);
});

it("opens what is snoozed until it recurs, and not what is snoozed until a day", async () => {
  const kit = await withTeam();
  const other = { date: "2026-11-10", title: "Slow search" };
  await kit.say([
    { ...FIRST, open: true },
    { ...other, open: true },
  ]);
  const [loop, slow] = [kit.classOf("Login loop"), kit.classOf("Slow search")];
  await kit.act(loop, { kind: "snooze", until: null }, kit.ada);
  await kit.act(slow, { kind: "snooze", until: kit.t.clock.now() + 7 * DAY_MS }, kit.ada);
  expect([kit.state(loop), kit.state(slow)]).toEqual(["snoozed", "snoozed"]);
  kit.t.clock.advance(2 * DAY_MS);
  await kit.say([AGAIN, { ...other, date: "2026-11-23" }, FIRST, other]);
  expect([kit.state(loop), kit.state(slow)]).toEqual(["again", "snoozed"]);
  expect(kit.noted().map(({ fingerprint }) => fingerprint)).toEqual([loop]);
  kit.t.clock.advance(6 * DAY_MS);
  expect(kit.state(slow)).toBe("again");
  expect((await countClasses(kit.core, kit.teamId)).classes).toMatchObject({ snoozed: 0, again: 2 });
});

it("does not count an entry as new that was removed and put back", async () => {
  const kit = await resolved();
  const { fingerprint } = kit;
  await kit.say([AGAIN, FIRST]);
  await kit.act(fingerprint, { kind: "resolve" }, kit.ada);
  for (const entries of [[FIRST], [AGAIN, FIRST]]) await kit.say(entries);
  expect([kit.state(fingerprint), kit.noted().length]).toEqual(["resolved", 1]);
});

it("takes what was said of an entry along to another class, and opens snoozed entries when that class recurs", async () => {
  const kit = await withTeam();
  const [second, other] = [{ ...FIRST, date: "2026-11-11", title: "Loop, too" }, "say what it waits for."];
  const slow = { date: "2026-11-12", title: "Slow search", rule: other, open: true };
  await kit.say([slow, second, { ...FIRST, open: true }]);
  const fingerprint = kit.classOf("Login loop");
  const standing = (of: string, id: number) => standingOfEntry(kit.core, kit.teamId, of, { id, open: true }).state;
  const [loop, too] = [kit.entryId("Login loop"), kit.entryId("Loop, too")] as const;
  await kit.act(fingerprint, { kind: "snooze", until: null }, kit.ada, { entryId: loop });
  await kit.act(fingerprint, { kind: "resolve" }, kit.ada, { entryId: too });
  expect([standing(fingerprint, loop), standing(fingerprint, too)]).toEqual(["snoozed", "resolved"]);
  await kit.say([slow, { ...second, rule: other }, { ...FIRST, open: true }]);
  expect([kit.entryId("Loop, too"), standing(kit.classOf("Slow search"), too)]).toEqual([too, "resolved"]);
  await kit.say([AGAIN, slow, { ...second, rule: other }, { ...FIRST, open: true }]);
  expect(standing(fingerprint, loop)).toBe("open");
});

it("opens what is snoozed until it recurs by entries since the snooze, or since it was resolved before that", async () => {
  const kit = await withTeam();
  await kit.say([{ ...FIRST, open: true }]);
  const fingerprint = kit.classOf("Login loop");
  await kit.act(fingerprint, { kind: "snooze", until: null }, kit.ada);
  await kit.say([{ ...AGAIN, date: "2026-11-18" }, FIRST]);
  expect([kit.state(fingerprint), kit.noted()]).toEqual(["snoozed", []]);
  const later = await resolved();
  await later.act(later.fingerprint, { kind: "snooze", until: null }, later.ada);
  await later.say([{ ...AGAIN, date: "2026-11-21" }, FIRST]);
  expect([later.state(later.fingerprint), later.noted().length]).toEqual(["again", 1]);
});

it("counts a recurrence of what was resolved and is snoozed until a day from that day on, and tells nobody before", async () => {
  const kit = await resolved();
  const { fingerprint, ada, t } = kit;
  const until = t.clock.now() + 7 * DAY_MS;
  await kit.act(fingerprint, { kind: "snooze", until }, ada);
  await kit.say([AGAIN, FIRST]);
  expect(kit.standing(fingerprint)).toMatchObject({ state: "snoozed", snoozedUntil: until });
  t.clock.advance(7 * DAY_MS);
  expect([kit.state(fingerprint), kit.noted()]).toEqual(["again", []]);
  expect([kit.timeline(fingerprint).at(-1), audited(kit).at(-1)]).toEqual(["came-again by Reckon", "error.came_again"]);
});

it("notifies of nothing whose transaction is rolled back", async () => {
  const kit = await resolved();
  kit.core.store.db.exec("CREATE TRIGGER full BEFORE INSERT ON notices BEGIN SELECT RAISE(ABORT, 'no room'); END");
  await kit.say([AGAIN, FIRST]).catch(() => {});
  expect([kit.state(kit.fingerprint), kit.t.count("defects"), kit.noted().length]).toEqual(["resolved", 1, 0]);
});

it("keeps the classes in line with the entries", async () => {
  const kit = await withTeam();
  const many = Array.from({ length: 600 }, (_, i) => ({ date: "2026-10-01", title: `T${i % 300}`, open: i === 0 }));
  await kit.say(many, REPO, { "security.md": entry({ date: "2026-10-05", title: "T1" }) });
  await kit.say([{ date: "2026-10-02", title: "T1" }], "other");
  await kit.say(many.slice(0, 450));
  const derived = kit.t.rows(
    `SELECT class, occurrences, open, first_seen, last_seen, newest_id, first_repo FROM triage_classes ORDER BY class`,
  );
  const counted = kit.t.rows(
    `SELECT lower(hex(substr(fingerprint, 1, 4))) AS class, count(*) AS occurrences, sum(open) AS open, min(date) AS first_seen,
       max(date) AS last_seen FROM defects GROUP BY 1 ORDER BY 1`,
  );
  expect(derived).toHaveLength(300);
  expect(derived.map(({ newest_id: _, first_repo: __, ...one }) => one)).toEqual(counted);
  expect(kit.t.rows("SELECT json_array_length(repos) AS n FROM triage_classes WHERE title = 'T1'")).toEqual([{ n: 2 }]);
  expect(kit.t.rows("SELECT path FROM defects WHERE path = ?", ERRORS).length).toBe(451);
});
