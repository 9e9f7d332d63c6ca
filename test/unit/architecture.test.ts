import { expect, it } from "vitest";
import { metafile } from "../../build/bundle.ts";

const inputs = Object.entries((await metafile()).inputs);
const files = inputs.filter(([path]) => path.startsWith("src/")).map(([path]) => path);
const imports = new Map(
  inputs
    .filter(([path]) => path.startsWith("src/"))
    .map(([path, { imports }]) => [path, imports.map((one) => one.path).filter((one) => one.startsWith("src/"))]),
);
const packages = (path: string) =>
  (inputs.find(([one]) => one === path)?.[1].imports ?? [])
    .map((one) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(one.path)?.[1])
    .filter((name): name is string => name !== undefined);

const roomOf = (path: string) => path.split("/").slice(1, -1)[0] ?? "";
const isDoor = (path: string) => path === `src/${roomOf(path)}/${roomOf(path)}.ts`;

/** What anybody may import: it imports no room itself, or only their types. */
const LEAVES = ["src/config.ts", "src/core.ts"];
const BELOW: Record<string, readonly string[]> = { kit: [], store: ["kit"], http: ["kit"], redact: ["kit"] };
const CAPABILITIES = [
  "accounts",
  "audit",
  "brain",
  "catalog",
  "causes",
  "connect",
  "defects",
  "derive",
  "health",
  "ledger",
  "license",
  "login",
  "policy",
  "pulses",
  "reads",
  "releases",
  "requests",
  "safekeeping",
  "spend",
  "telemetry",
  "traces",
];
/** What capabilities may take from http: declarations, never the serving itself. */
const HTTP_FOR_ALL = ["endpoint", "faults", "fields", "principal"].map((name) => `src/http/${name}.ts`);
/** What the dashboard may take from http: how a page is declared. */
const HTTP_FOR_PAGES = ["page", "endpoint", "principal", "fields"].map((name) => `src/http/${name}.ts`);
/** What the public site may take besides: the document that it explains. */
const HTTP_FOR_SITE = [...HTTP_FOR_PAGES, "src/http/openapi-endpoint.ts"];
/** What the public site shares with the dashboard: components and the files of its look, nothing that knows of people. */
const isLook = (to: string) => to.startsWith("src/dashboard/parts/") || to === "src/dashboard/assets.ts";
/** What the local instance may take from http: what is declared, and how it is refused. */
const HTTP_FOR_DEV = ["endpoint", "faults", "version"].map((name) => `src/http/${name}.ts`);

function mayImport(from: string, to: string): boolean {
  const room = roomOf(from);
  const target = roomOf(to);
  if (room === target && room !== "" && !from.startsWith("src/dashboard/parts/")) return true;
  if (from.startsWith("src/dashboard/parts/") && to.startsWith("src/dashboard/parts/")) return true;
  if (LEAVES.includes(to) && room !== "kit") return true;
  if (room in BELOW) return (BELOW[room] as readonly string[]).includes(target);
  if (CAPABILITIES.includes(room)) {
    if (target === "http") return HTTP_FOR_ALL.includes(to);
    if (target === "store" || target === "redact") return isDoor(to);
    return target === "kit" || (CAPABILITIES.includes(target) && isDoor(to));
  }
  if (from === "src/main.ts") return room === "" && target === "cli";
  if (from === "src/config.ts") return target === "kit";
  if (from === "src/contract.ts") return !["cli", "dashboard", "dev", "site"].includes(target);
  // Pages have no SQL and no decisions of their own: they call the doors. Their parts know nothing of us but HTML.
  if (from.startsWith("src/dashboard/parts/")) return target === "kit";
  if (room === "dashboard")
    return (
      target === "kit" || HTTP_FOR_PAGES.includes(to) || ([...CAPABILITIES, "redact"].includes(target) && isDoor(to))
    );
  // The local instance stands outside the server's code and uses what everybody may use.
  if (room === "dev")
    return (
      target === "kit" ||
      HTTP_FOR_DEV.includes(to) ||
      ([...CAPABILITIES, "redact", "store"].includes(target) && isDoor(to))
    );
  if (room === "site")
    return (
      target === "kit" || HTTP_FOR_SITE.includes(to) || isLook(to) || (CAPABILITIES.includes(target) && isDoor(to))
    );
  if (room === "cli")
    return target === "kit" || target === "http" || to === "src/server.ts" || to === "src/contract.ts" || isDoor(to);
  return room === "" && target !== "cli" && target !== "dev";
}

it("imports only downward, and other rooms only through their doors", () => {
  const wrong = [...imports].flatMap(([from, tos]) =>
    tos.filter((to) => !mayImport(from, to)).map((to) => `${from} -> ${to}`),
  );
  expect(wrong).toEqual([]);
});

it("has no cycle among files", () => {
  const state = new Map<string, "open" | "done">();
  const cycles: string[] = [];
  const visit = (path: string, trail: string[]) => {
    if (state.get(path) === "done") return;
    if (state.get(path) === "open") {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(" -> "));
      return;
    }
    state.set(path, "open");
    for (const next of imports.get(path) ?? []) visit(next, [...trail, path]);
    state.set(path, "done");
  };
  for (const path of files) visit(path, []);
  expect(cycles).toEqual([]);
});

it("keeps each third-party package in one room", () => {
  const HOMES: Record<string, readonly string[]> = {
    h3: ["http", "server"],
    srvx: ["http"],
    "better-sqlite3": ["store"],
    jose: ["kit"],
    minisearch: ["brain"],
    "markdown-it": ["kit"],
    commander: ["cli"],
    "@valibot/to-json-schema": ["http"],
    "d3-scale": ["dashboard"],
    "d3-shape": ["dashboard"],
    diff: ["brain"],
    negotiator: ["site"],
    semver: ["kit"],
    "modern-tar": ["catalog"],
  };
  for (const path of files)
    for (const name of packages(path)) {
      if (name === "valibot") continue;
      const home = roomOf(path) || path.replace("src/", "").replace(".ts", "");
      expect([name, HOMES[name]?.includes(home)], `${path} imports ${name}`).toEqual([name, true]);
    }
});

it("reads time, chance and environment only where they enter", async () => {
  const { readFileSync } = await import("node:fs");
  const allowed = (path: string) => path.startsWith("src/kit/") || path === "src/config.ts" || path === "src/main.ts";
  const wrong = files.filter(
    (path) => !allowed(path) && /\bDate\.now\(|\bMath\.random\(|\bprocess\.env\b/.test(readFileSync(path, "utf8")),
  );
  expect(wrong).toEqual([]);
});

it("has a door in every room that says what it owns and what not", async () => {
  const { readFileSync, existsSync } = await import("node:fs");
  for (const room of [...CAPABILITIES, "dashboard", "dev", "site"]) {
    const door = `src/${room}/${room}.ts`;
    expect([room, existsSync(door)]).toEqual([room, true]);
    expect(readFileSync(door, "utf8")).toMatch(/^\/\*\*[\s\S]*(?:[Nn]ot here|knows)/);
  }
});
