import { expect, it } from "vitest";
import {
  brainMetrics,
  errorCalendar,
  errorDays,
  listDefects,
  onWire,
  recurredWithin,
  recurringClasses,
} from "../../../src/insight/defects/defects.ts";
import { pageRows } from "../../../src/insight/defects/page-rows.ts";
import { rows } from "../../../src/insight/defects/rows.ts";
import {
  act,
  countClasses,
  newClassesByDay,
  openErrors,
  pageOfErrors,
  SORTS,
  STATES,
  type State,
} from "../../../src/insight/triage/triage.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { startInstance, startWithDevice } from "../../support/instance.ts";

/** More entries of one repository than are read at once, and few of another. */
const HELD = { shop: 2_600, till: 300 };

function errorsFile(count: number, seed: number): string {
  const entry = (i: number) => {
    const n = Math.imul(i + 1, seed) >>> 8;
    const day = new Date(Date.UTC(2026, 10, 21 - (n % 120))).toISOString().slice(0, 10);
    const rule = n % 5 === 0 ? `rule ${n % 97}` : `rule of ${seed} and ${i % 1_500}`;
    return `## ${day} Broke ${i}\n\n**Prevention rule:** ${rule}\n\n**Status:** ${n % 7 === 0 ? "open" : "fixed"}`;
  };
  return Array.from({ length: count }, (_, i) => entry(i)).join("\n\n");
}

async function filled() {
  const { t, core, token, team } = await startWithDevice();
  let seed = 2_654_435_761;
  for (const [repoKey, count] of Object.entries(HELD)) {
    const files = [{ path: ".claude/brain/errors.md", content: errorsFile(count, seed) }];
    seed -= 1_000_000;
    expect((await t.post("/api/brain/ingest", { token, json: { repoKey, version: 1, files } })).status).toBe(200);
  }
  await t.instance.settle();
  const all = listDefects(core, team.id);
  expect(all).toHaveLength(HELD.shop + HELD.till);
  return { core, teamId: team.id, all };
}

it("gives the same counts and lists in slices as at once", async () => {
  const { core, teamId, all } = await filled();
  const classes = [...Map.groupBy(all, ({ fingerprint }) => onWire(fingerprint))];
  const first = classes.slice(0, 40).map(([fingerprint]) => fingerprint);
  for (const fingerprint of first) await act(core, { teamId, fingerprint }, { kind: "resolve" }, COMMAND_LINE);
  const resolved = new Set(first);
  const stateOf = ([fingerprint, entries]: (typeof classes)[number]): State =>
    resolved.has(fingerprint)
      ? "resolved"
      : entries.length > 1
        ? "again"
        : entries.some(({ open }) => open)
          ? "open"
          : "resolved";
  const states = Map.groupBy(classes, stateOf);
  const counts = await countClasses(core, teamId);
  for (const state of STATES) expect([state, counts.classes[state]]).toEqual([state, states.get(state)?.length ?? 0]);

  for (const sort of SORTS)
    for (const ascending of [true, false]) {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const query = { states: STATES, sort, ascending, cursor, limit: 200 };
        const page = await pageOfErrors(core, teamId, query);
        seen.push(...page.rows.map(({ fingerprint }) => fingerprint));
        cursor = page.older;
      } while (cursor);
      expect(seen).toHaveLength(classes.length);
      expect(new Set(seen).size).toBe(classes.length);
    }
  const some = classes.slice(30, 60).map(([fingerprint]) => fingerprint);
  const query = { only: some, states: STATES, sort: "last", ascending: false } as const;
  const { rows: listed } = await pageOfErrors(core, teamId, query);
  expect(listed.map(({ fingerprint }) => fingerprint).sort()).toEqual(some.toSorted());

  const { cameAgain, open } = await openErrors.pressing(core, teamId, "2026-11-01", 5);
  const newest = (entries: readonly (typeof all)[number][]) =>
    entries
      .map(({ date }) => date)
      .sort()
      .at(-1) ?? "";
  const again = classes.filter((one) => stateOf(one) === "again" && newest(one[1]) >= "2026-11-01");
  expect(cameAgain.count).toBe(again.length);
  const lasts = again.map((one) => newest(one[1])).sort();
  expect(cameAgain.rows.map(({ lastSeen }) => lastSeen)).toEqual(lasts.slice(-5).reverse());
  expect(open.rows).toHaveLength(5);
  const listedOpen = await countClasses(core, teamId, { kind: "error" });
  expect(cameAgain.count + open.count, "as the list of errors has them").toBe(
    listedOpen.classes.open + listedOpen.classes.again,
  );
  const byRepo = await openErrors.byRepo(core, teamId);
  for (const repoKey of Object.keys(HELD)) {
    const pressing = classes.filter((one) => ["open", "again"].includes(stateOf(one)));
    const here = pressing.filter(([, entries]) => entries.some((entry) => entry.repoKey === repoKey));
    expect(byRepo.get(repoKey)).toBe(here.length);
  }
  const began = await newClassesByDay(core, teamId, "2026-10-01");
  const firsts = classes.map(([, entries]) => entries.map(({ date }) => date).sort()[0] ?? "");
  expect([...began.values()].reduce((sum, count) => sum + count, 0)).toBe(
    firsts.filter((date) => date >= "2026-10-01").length,
  );
  expect(await errorCalendar.classesWith(core, teamId, { text: "Broke 17" })).toHaveLength(
    classes.filter(([, entries]) => entries.some(({ title }) => title.includes("Broke 17"))).length,
  );
});

it("sums errors files up alike for a team and a repository of many entries and of few", async () => {
  const { core, teamId, all } = await filled();
  for (const repoKey of [undefined, "shop", "till"]) {
    const mine = all.filter((entry) => repoKey === undefined || entry.repoKey === repoKey);
    const metrics = await brainMetrics(core, teamId, repoKey);
    const open = mine.filter((entry) => entry.open);
    expect([metrics.total, metrics.openTotal]).toEqual([mine.length, open.length]);
    expect(metrics.open).toEqual(open.slice(0, 3));
    const classes = [...Map.groupBy(mine, ({ fingerprint }) => onWire(fingerprint))]
      .filter(([, entries]) => entries.length > 1)
      .map(([fingerprint, entries]) => ({ fingerprint, occurrences: entries.length, last: entries[0]?.date ?? "" }))
      .sort(
        (a, b) =>
          b.occurrences - a.occurrences || b.last.localeCompare(a.last) || a.fingerprint.localeCompare(b.fingerprint),
      );
    const found = await recurringClasses(core, teamId, repoKey);
    expect(found.map(({ fingerprint }) => fingerprint)).toEqual(
      classes.slice(0, 100).map(({ fingerprint }) => fingerprint),
    );
    expect(found[0]?.titles).toHaveLength(Math.min(3, classes[0]?.occurrences ?? 0));
    if (repoKey !== undefined) continue;
    const within = await recurredWithin(core, teamId, { from: "2026-01-01", to: "2026-11-21" }, 7);
    expect([within.count, within.classes.length]).toEqual([classes.length, 7]);
    const days = await errorDays(core, teamId, "2026-10-01", "2026-11-10");
    const firsts = new Map<string, string>();
    for (const { date, fingerprint } of all) firsts.set(onWire(fingerprint), date);
    expect(days).toEqual(
      [...Map.groupBy(all, ({ date }) => date)]
        .filter(([date]) => date >= "2026-10-01" && date <= "2026-11-10")
        .map(([date, entries]) => ({
          ...{ date, entries: entries.length },
          again: entries.length - [...firsts.values()].filter((first) => first === date).length,
        }))
        .reverse(),
    );
  }
});

it("finds what belongs to one repository or class without reading all of a team's entries", async () => {
  const { core } = await startInstance().then((t) => t.instance);
  const planOf = ({ source }: { readonly source: string }) =>
    core.store.db
      .prepare(`EXPLAIN QUERY PLAN ${source.replaceAll(/@\w+|\?/g, "NULL")}`)
      .all()
      .map((row) => (row as { detail: string }).detail)
      .join(" ");
  const sql = rows(core.store);
  for (const { ofRepo, ofSlice } of [sql.totals, sql.open, sql.classes]) {
    expect(planOf(ofRepo)).toContain("defects_by_date (team_id=? AND repo_key=?)");
    expect(planOf(ofSlice)).toContain("defects_by_fingerprint (team_id=? AND fingerprint>? AND fingerprint<?)");
  }
  expect(planOf(sql.ofClass)).toContain("defects_by_fingerprint (team_id=? AND fingerprint=?)");
  const { classesWith, datesOfClass, classesOfEntries } = pageRows(core.store);
  for (const one of [classesWith, datesOfClass])
    expect(planOf(one)).toContain("defects_by_fingerprint (team_id=? AND f");
  expect(planOf(classesOfEntries)).toContain("INTEGER PRIMARY KEY (rowid=?)");
});
