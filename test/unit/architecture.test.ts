import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

/*
 * The rules of the house (docs/dev.md) that the sources themselves can be asked about. How long and how tangled a function may be,
 * and how long a file, is checked while writing: .biome.json.
 */

/** From the ground up: a room imports floors below its own, and the other rooms of its floor by their doors. */
const FLOORS = [
  "kit",
  "formats",
  "redact",
  "platform",
  "capture",
  "identity",
  "log",
  "record",
  "insight",
  "share",
  "surfaces",
];
/** Floors that are one room. */
const UNDIVIDED = ["kit", "formats", "redact", "capture", "log"];
/** The client on a developer's machine knows nothing of the server but how a database is opened, and only commands know it. */
const CLIENT = "capture";
/** Rooms without a door: a set of parts, each imported by its name. */
const OPEN = ["kit", "formats", "platform/http", "surfaces/web/ui", "surfaces/cli"];
/** What every floor above `kit` may import: they know rooms by type only. */
const LEAVES = ["src/config.ts", "src/core.ts"];
/** What composes the house, and may import all of it. */
const ROOF = ["src/app.ts", "src/main.ts", "src/worker.ts"];
const MAX_DOOR_NAMES = 25;

/** Names that nobody else in the field would know, each with the one to use. Prose in comments may say what it likes. */
const BANNED: Readonly<Record<string, string>> = {
  "MOST_\\w+|LONGEST_\\w+|SHORTEST_\\w+|FEWEST_\\w+": "MAX_… and MIN_…, with the unit: MAX_NAME_CHARS",
  "Complaint|Refusal|Extra|refuse": "Problem, fail: there is one kind of error",
  "says|telling": "message, description, explanation: what it is that says it",
  "wanted|Wanted|asked|Asked": "requested or desired; query, params",
  "told|Told|held": "reported; stored, cached; onProgress",
  "Derivation|Overtaken": "Projection, ConcurrentAdvance",
  "breathe|breather": "yieldNow, cooperative",
  perOwner: "what a room's `open` returns, so that it can be seen and ends with the instance",
  "Lot|liken|alike|homes|rehome|homeless": "dedupe, reconcile, source, rematch, reattach",
  "sieve|stretch|misfit|overhear|plant": "filter, chunk, validation message, captureBody, seed",
};

/** The contract calls the reasons of a link, the factors of a rank and the source of a hit so. */
const ON_THE_WIRE = "says";

const paths = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((path) => join("src", path))
  .filter((path) => path.endsWith(".ts"));
const sources = new Map(paths.map((path) => [path, readFileSync(path, "utf8")]));
const IMPORT = /^(?:import|export)\b[^;"=(]*? from "([^"]+)"|\bimport\("([^"]+)"\)/gm;
const specifiers = new Map(
  [...sources].map(([path, text]) => [path, [...text.matchAll(IMPORT)].map(([, from, called]) => `${from ?? called}`)]),
);
/** Types included. */
const imports = new Map(
  [...specifiers].map(([path, all]) => [
    path,
    all.filter((specifier) => specifier.startsWith(".")).map((specifier) => join(dirname(path), specifier)),
  ]),
);

const floorOf = (path: string) => FLOORS.indexOf(path.split("/")[1] as string);
/** A folder with its door, or a file that is its own. */
function roomOf(path: string): string {
  const [, floor = "", room = "", place = ""] = path.replace(/\.ts$/, "").split("/");
  if (UNDIVIDED.includes(floor)) return floor;
  return room === "web" ? `${floor}/web/${place}` : `${floor}/${room}`;
}
const doorOf = (room: string) =>
  sources.has(`src/${room}.ts`) ? `src/${room}.ts` : `src/${room}/${room.split("/").at(-1)}.ts`;

function mayImport(from: string, to: string): boolean {
  if (ROOF.includes(from)) return true;
  if (LEAVES.includes(to)) return floorOf(from) > 0 || LEAVES.includes(from);
  if (LEAVES.includes(from)) return floorOf(to) === 0 || to === doorOf("platform/store");
  if (ROOF.includes(to)) return from.startsWith("src/surfaces/");
  if (roomOf(from) === roomOf(to)) return true;
  if (roomOf(from) === CLIENT && floorOf(to) > FLOORS.indexOf("redact")) return to === doorOf("platform/store");
  if (roomOf(to) === CLIENT && !from.startsWith("src/surfaces/cli/")) return false;
  return floorOf(to) <= floorOf(from) && (OPEN.includes(roomOf(to)) || to === doorOf(roomOf(to)));
}

describe("the house", () => {
  it("imports only downward, and other rooms by their doors", () => {
    const wrong = [...imports].flatMap(([from, tos]) =>
      tos.filter((to) => !mayImport(from, to)).map((to) => `${from} -> ${to}`),
    );
    expect(wrong).toEqual([]);
  });

  it("has no circle of files or of rooms", () => {
    const rooms = new Map<string, string[]>();
    for (const [from, tos] of imports) {
      const others = tos.filter((to) => floorOf(to) >= 0 && roomOf(to) !== roomOf(from)).map(roomOf);
      if (floorOf(from) >= 0) rooms.set(roomOf(from), [...(rooms.get(roomOf(from)) ?? []), ...others]);
    }
    const circles = [...circlesOf(imports), ...circlesOf(rooms)];
    expect(circles).toEqual([]);
  });

  it("keeps each third-party package in one room", () => {
    const users = new Map<string, Set<string>>();
    for (const [path, all] of specifiers)
      for (const name of all.filter((specifier) => !/^\.|^node:|^valibot$/.test(specifier))) {
        const pack = name.split("/", name.startsWith("@") ? 2 : 1).join("/");
        users.set(pack, (users.get(pack) ?? new Set()).add(floorOf(path) < 0 ? path : roomOf(path)));
      }
    expect([...users].filter(([, rooms]) => rooms.size > 1)).toEqual([]);
  });

  it("opens no file of the program or the store in a thread", () => {
    const VALUES = /^(?:import|export)\b(?! type\b)(?!\s*\{(?:\s*type \w+,?)+\s*\})[^;"=(]*? from "(\.[^"]+)"/gm;
    const loaded = new Set(["src/worker.ts"]);
    for (const path of loaded)
      for (const [, to] of (sources.get(path) ?? "").matchAll(VALUES)) loaded.add(join(dirname(path), `${to}`));
    expect([...loaded].filter((path) => path.startsWith("src/platform/store/"))).toEqual([]);
  });

  it("reads time, chance and environment only where they enter", () => {
    const READS = /\bDate\.now\(|\bMath\.random\(|\bprocess\.env\b/;
    const reading = paths.filter((path) => READS.test(sources.get(path) as string));
    expect(reading.filter((path) => !/^src\/(?:kit\/|config\.ts$|main\.ts$)/.test(path))).toEqual([]);
  });

  it("has a door in every room, which says what is not behind it and is not wide", () => {
    const rooms = new Set(paths.filter((path) => floorOf(path) > FLOORS.indexOf("redact")).map(roomOf));
    for (const room of [...rooms].filter((name) => !OPEN.includes(name))) {
      const door = sources.get(doorOf(room)) ?? "";
      expect([room, /^\/\*\*[\s\S]*?(?:[Nn]ot here|knows)/.test(door)]).toEqual([room, true]);
      expect([room, namesOf(door) <= MAX_DOOR_NAMES]).toEqual([room, true]);
    }
  });

  it("names each room in the guide, in the row of its floor", () => {
    const rows = readFileSync("docs/dev.md", "utf8").split("\n");
    const rooms = new Set(paths.filter((path) => path.split("/").length > 3).map(roomOf));
    const unnamed = [...rooms].filter((room) => {
      const [floor, ...name] = room.split("/");
      return !rows.some((row) => row.startsWith(`| \`${floor}/\``) && row.includes(`\`${name.join("/")}\``));
    });
    expect(unnamed.filter((room) => !UNDIVIDED.includes(room))).toEqual([]);
  });

  it("prepares statements in rows files only, each table in one room", () => {
    const tables = new Set(
      [...readFileSync("schema.sql", "utf8").matchAll(/CREATE (?:VIRTUAL )?TABLE (\w+)/g)].map(([, name]) => name),
    );
    const owners = new Map<string, Set<string>>();
    for (const [path, text] of sources) {
      if (!/\.prepare(?:<|\()/.test(text) || path.startsWith("src/platform/store/")) continue;
      expect(path).toMatch(/rows\.ts$/);
      for (const [, table = ""] of text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+([a-z]\w+)/g))
        if (tables.has(table)) owners.set(table, (owners.get(table) ?? new Set()).add(roomOf(path)));
    }
    const shared = [...owners].filter(([, rooms]) => rooms.size > 1);
    expect(shared.map(([table, rooms]) => [table, ...rooms])).toEqual([]);
  });

  it("names things as the field does", () => {
    const banned = new RegExp(`(?<![.\\w$-])(${Object.keys(BANNED).join("|")})(?=\\??(?::| =|\\(| extends))`, "g");
    const found = [...sources].flatMap(([path, text]) =>
      [...text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "").matchAll(banned)].map(([, name = ""]) => ({ path, name })),
    );
    expect(found.filter(({ name }) => name !== ON_THE_WIRE)).toEqual([]);
  });
});

/** Names that a door shows: those it hands on, and those it declares. */
function namesOf(door: string): number {
  const lists = [...door.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, names = ""]) => names.split(","));
  const own = [...door.matchAll(/^export (?:async )?(?:const|function|class|interface|type) \w/gm)];
  return lists.filter((name) => name.trim() !== "").length + own.length;
}

function circlesOf(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const state = new Map<string, "open" | "done">();
  const circles: string[] = [];
  const visit = (node: string, trail: readonly string[]) => {
    if (state.get(node) === "open") circles.push([...trail.slice(trail.indexOf(node)), node].join(" -> "));
    if (state.has(node)) return;
    state.set(node, "open");
    for (const next of new Set(edges.get(node))) visit(next, [...trail, node]);
    state.set(node, "done");
  };
  for (const node of edges.keys()) visit(node, []);
  return circles;
}
