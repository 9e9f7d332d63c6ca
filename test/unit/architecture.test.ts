import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { describe, expect, it } from "vitest";

/** The house, from the ground up: a room imports rooms of floors before its own, and others of its floor by their doors. */
const FLOORS = ["kit", "formats", "redact", "platform", "identity", "log", "record", "insight", "share", "surfaces"];
/** What every floor above `kit` may import: they know rooms by type only. */
const LEAVES = ["src/config.ts", "src/core.ts"];
const ROOF = ["src/app.ts", "src/contract.ts", "src/upkeep.ts", "src/main.ts"];
const MAX_LINES = 300;
const MAX_DOOR_NAMES = 25;

const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((path) => posix.join("src", path))
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"));
const source = new Map(files.map((path) => [path, readFileSync(path, "utf8")]));
const specifiers = (path: string) =>
  [
    ...(source.get(path) as string).matchAll(/^(?:import|export)\b[^;"=(]*? from "([^"]+)"|\bimport\("([^"]+)"\)/gm),
  ].map(([, named, called]) => (named ?? called) as string);
/** Types included. */
const imports = new Map(
  files.map((path) => [
    path,
    specifiers(path)
      .filter((one) => one.startsWith("."))
      .map((one) => join(dirname(path), one)),
  ]),
);

const floorOf = (path: string) => FLOORS.indexOf(path.split("/")[1] as string);
/** A folder with a door; floors without folders are one room. */
const roomOf = (path: string) => {
  const [, floor, room, place] = path.split("/") as [string, string, string, string | undefined];
  if (["kit", "formats", "redact", "log"].includes(floor)) return floor;
  return room === "web" ? `${floor}/web/${place}` : `${floor}/${room}`;
};
const doorOf = (room: string) => `src/${room}/${room.split("/").at(-1)}.ts`;

function mayImport(from: string, to: string): boolean {
  if (ROOF.includes(from)) return true;
  if (LEAVES.includes(to)) return floorOf(from) > 0 || LEAVES.includes(from);
  if (LEAVES.includes(from)) return floorOf(to) === 0 || to === doorOf("platform/store");
  if (roomOf(from) === roomOf(to)) return true;
  if (floorOf(to) < 0 || floorOf(to) > floorOf(from)) return ROOF.includes(to) && from.startsWith("src/surfaces/");
  return ["kit", "formats"].includes(roomOf(to)) || to === doorOf(roomOf(to)) || OPEN.includes(roomOf(to));
}
/** Rooms that are a set of parts rather than one thing behind a door. */
const OPEN = ["platform/http", "surfaces/web/ui"];

describe("the house", () => {
  it("imports only downward, and other rooms by their doors", () => {
    const wrong = [...imports].flatMap(([from, tos]) =>
      tos.filter((to) => !mayImport(from, to)).map((to) => `${from} -> ${to}`),
    );
    expect(wrong).toEqual([]);
  });

  it("has no circle of files or of rooms", () => {
    expect(circles(imports)).toEqual([]);
    const rooms = new Map<string, string[]>();
    for (const [from, tos] of imports) {
      if (floorOf(from) < 0) continue;
      const others = tos.filter((to) => floorOf(to) >= 0 && roomOf(to) !== roomOf(from)).map(roomOf);
      rooms.set(roomOf(from), [...(rooms.get(roomOf(from)) ?? []), ...others]);
    }
    expect(circles(rooms)).toEqual([]);
  });

  it("keeps each third-party package in one room", () => {
    const homes = new Map<string, Set<string>>();
    for (const path of files)
      for (const name of specifiers(path).filter((one) => !one.startsWith(".") && !one.startsWith("node:"))) {
        const pack = name.split("/", name.startsWith("@") ? 2 : 1).join("/");
        homes.set(pack, (homes.get(pack) ?? new Set()).add(floorOf(path) < 0 ? path : roomOf(path)));
      }
    homes.delete("valibot");
    expect([...homes].filter(([, rooms]) => rooms.size > 1)).toEqual([]);
  });

  it("reads time, chance and environment only where they enter", () => {
    const allowed = (path: string) => path.startsWith("src/kit/") || path === "src/config.ts" || path === "src/main.ts";
    const reads = /\bDate\.now\(|\bMath\.random\(|\bprocess\.env\b/;
    expect(files.filter((path) => !allowed(path) && reads.test(source.get(path) as string))).toEqual([]);
  });

  it("has a door in every room, which says what is not behind it and is not wide", () => {
    const rooms = new Set(files.filter((path) => floorOf(path) > 2 && !OPEN.includes(roomOf(path))).map(roomOf));
    for (const room of rooms) {
      const door = source.get(doorOf(room));
      expect(door, `${room} has a door`).toMatch(/^\/\*\*[\s\S]*(?:[Nn]ot here|knows)/);
      expect([room, namesOf(door as string) <= MAX_DOOR_NAMES]).toEqual([room, true]);
    }
  });

  it("prepares statements in rows files only, each table in one room", () => {
    const TABLE = /\b(?:FROM|JOIN|INTO|UPDATE)\s+([a-z]\w+)/g;
    const tables = new Set(
      [...readFileSync("schema.sql", "utf8").matchAll(/CREATE (?:VIRTUAL )?TABLE (\w+)/g)].map(([, name]) => name),
    );
    const owners = new Map<string, Set<string>>();
    for (const path of files) {
      if (!/\.prepare(?:<|\()/.test(source.get(path) as string) || path.startsWith("src/platform/store/")) continue;
      expect(path).toMatch(/rows\.ts$/);
      for (const [, table] of (source.get(path) as string).matchAll(TABLE))
        if (tables.has(table))
          owners.set(table as string, (owners.get(table as string) ?? new Set()).add(roomOf(path)));
    }
    expect([...owners].filter(([, rooms]) => rooms.size > 1).map(([table, rooms]) => [table, ...rooms])).toEqual([]);
  });

  it("has no large files", () => {
    const lines = (path: string) => (source.get(path) as string).split("\n").length - 1;
    expect(files.filter((path) => lines(path) > MAX_LINES)).toEqual([]);
  });
});

function namesOf(door: string): number {
  const lists = [...door.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, names]) =>
    (names as string).split(","),
  );
  const own = [...door.matchAll(/^export (?:async )?(?:const|function|class|interface|type) \w/gm)];
  return lists.filter((one) => one.trim() !== "").length + own.length;
}

function circles(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const state = new Map<string, "open" | "done">();
  const found: string[] = [];
  const visit = (node: string, trail: readonly string[]) => {
    if (state.get(node) === "done") return;
    if (state.get(node) === "open") {
      found.push([...trail.slice(trail.indexOf(node)), node].join(" -> "));
      return;
    }
    state.set(node, "open");
    for (const next of new Set(edges.get(node) ?? [])) visit(next, [...trail, node]);
    state.set(node, "done");
  };
  for (const node of edges.keys()) visit(node, []);
  return found;
}
