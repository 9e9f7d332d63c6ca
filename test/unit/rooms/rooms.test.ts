import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { API, CONTRACT, ROOMS } from "../../../src/app.ts";
import { slot } from "../../../src/core.ts";
import { auditActions, places } from "../../../src/platform/rooms/rooms.ts";
import { startInstance } from "../../support/instance.ts";

it.each([
  ["name", ROOMS.map(({ name }) => name)],
  ["endpoint", CONTRACT.map(({ spec }) => spec.id)],
  ["page", ROOMS.flatMap(({ pages = [] }) => pages.map(({ spec }) => `${spec.method} ${spec.path}`))],
  ["place", ROOMS.flatMap(({ places = [] }) => places.map(({ path }) => path))],
  ["projection", ROOMS.flatMap(({ projections = [] }) => projections.map(({ name }) => name))],
  ["job", ROOMS.flatMap(({ jobs = [] }) => jobs.map(({ name }) => name))],
  ["metric", ROOMS.flatMap(({ metrics = [] }) => metrics.map(({ name }) => name))],
  ["audit action", ROOMS.flatMap(({ auditActions = {} }) => Object.keys(auditActions))],
  ["tag", ROOMS.flatMap(({ tags = {} }) => Object.keys(tags))],
])("no two rooms have the same %s", (_, names) => {
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
});

it("every endpoint of the contract belongs to a group that a room declares, and every group has an endpoint", () => {
  expect([...new Set(CONTRACT.flatMap(({ spec }) => spec.tag ?? []))].sort()).toEqual(Object.keys(API.tags).sort());
});

it("every action that is recorded for the audit has words", async () => {
  const { core } = (await startInstance()).instance;
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  const recorded = sources.flatMap((path) =>
    [...readFileSync(join("src", path), "utf8").matchAll(/\baction: ([^;]*?),\n/g)].flatMap(([, value = ""]) =>
      [...value.matchAll(/"([a-z_]+\.[a-z_]+)"/g)].map(([, action]) => action as string),
    ),
  );
  expect(recorded.length).toBeGreaterThan(30);
  expect(recorded.filter((action) => !Object.hasOwn(auditActions(core), action))).toEqual([]);
});

it("every place in the navigation is a page that opens, and the places of a group are together", async () => {
  const { core } = (await startInstance()).instance;
  const pages = ROOMS.flatMap(({ pages = [] }) => pages.map(({ spec }) => `${spec.method} ${spec.path}`));
  expect(places(core).filter(({ path }) => !pages.includes(`GET ${path}`))).toEqual([]);
  const groups = places(core).map(({ group }) => group);
  expect(groups.filter((group, i) => i === 0 || group !== groups[i - 1])).toEqual([...new Set(groups)]);
});

it("what a room keeps in memory belongs to one instance, is made at first use and goes when it closes", async () => {
  const [first, second] = [await startInstance(), await startInstance()];
  let made = 0;
  const kept = slot(({ store }) => ({ directory: store.directory, number: ++made }));
  expect(made).toBe(0);
  expect(kept(first.instance.core)).toBe(kept(first.instance.core));
  expect(kept(second.instance.core)).toEqual({ directory: second.directory, number: 2 });
  await first.close();
  expect(first.instance.core.state.size).toBe(0);
});
