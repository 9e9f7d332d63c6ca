/**
 * How long the server takes for each page of the dashboard, how large it is, and how long it keeps everybody else waiting, for a
 * team of 200 people with 1,000,000 entries, 50,000 sessions and 2,000 errors. Between any two looks at a page something is
 * delivered, so that what is kept for as long as nothing changes helps nobody. What follows from a delivery is derived before the look, as
 * the server does within a quarter of a second; `at once` is a look that comes before that.
 * Run alone: `node test/bench/pages.ts [DIRECTORY] [PATH…]`; a directory that was filled is asked again, and pages may be named,
 * each with who opens it in front (`own:/sessions`).
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { databasePath } from "../../src/platform/store/store.ts";
import { threadMilliseconds } from "./cpu.ts";
import { type Filled, FULL, openFilled, type Size, VIEWERS } from "./pages-data.ts";
import type { Settings } from "./run.ts";
import { newDirectory, removeDirectory } from "./servers.ts";
import { columns, figure, median, quantile, type Report } from "./table.ts";

const QUICK: Size = { people: 40, entries: 50_000, sessions: 2_500, errors: 200 };
const ROUNDS = 20;
const ROUNDS_AT_ONCE = 5;
const AIM = { milliseconds: 50, bytes: 60_000 };

const SORTS = ["duration", "cost", "errors", "tokens"];
const GROUPINGS = ["repo", "branch", "agent", "person", "device", "session", "day"];
/** Stands nowhere in the record. */
const NOWHERE = "zzqqxx";

/** Pages that a team's people open daily, and those behind them. */
const PAGES = [
  ...["/overview?days=7", "/overview", "/overview?days=90"],
  "/sessions",
  ...SORTS.flatMap((sort) => [`/sessions?sort=${sort}`, `/sessions?sort=${sort}&dir=asc`]),
  "/sessions?dir=asc",
  ...["result=failed", "outcome=partial", "repo=github.com/acme/repo-3", "branch=topic-7", "branch=absent"],
  ...["person=user-0007", "agent=codex", "model=gpt-5.4", "cost=5", "errors=1", "result=failed&sort=cost"],
  ...["from=2026-11-20&to=2026-11-20", "q=rollback", `q=${NOWHERE}`, `person=user-0007&q=${NOWHERE}`],
]
  .map((page) => (page.startsWith("/") ? page : `/sessions?${page}`))
  .concat(
    ...["/sessions/SESSION", "/sessions/LONG", "/sessions/LONG?events=900", "/sessions/LONG/waterfall"],
    ...["/sessions/LONG/waterfall?from=750", "/sessions/LONG/files", "/sessions/LONG/record"],
    ...["/errors", "/errors?q=rule", "/errors/ERROR", "/errors/classes/CLASS"],
    ...["/spend", "/spend?days=90", "/spend?days=365", "/spend?repo=github.com/acme/repo-3", "/spend?person=user-0007"],
    ...GROUPINGS.flatMap((by) => [`/spend?by=${by}`, `/spend?days=90&by=${by}`]),
    ...["/repositories", "/repositories/overview?repo=github.com/acme/repo-3", "/brain", "/brain?q=rule"],
    ...["/devices", "/devices/DEVICE", "/telemetry", "/telemetry?device=DEVICE", `/telemetry?q=${NOWHERE}`],
    ...["/telemetry/streams", "/audit", "/evidence", "/people", "/people/user-0007", "/policy", "/settings"],
    ...["/retention", "/jobs", "/notifications", "/packs", "/search?q=rollback", `/search?q=${NOWHERE}`],
    ...["lead", "own"].flatMap((viewer) =>
      ["rol", "rollback", NOWHERE].map((text) => `${viewer}:/search.json?q=${text}`),
    ),
    ...["/sessions", "/sessions?sort=cost", "/sessions?q=rollback", `/sessions?q=${NOWHERE}`, "/spend"].map(
      (path) => `own:${path}`,
    ),
    ...["/spend?days=90&by=session", "/telemetry", "/devices"].map((path) => `own:${path}`),
  );

interface Page {
  readonly name: string;
  readonly status: number;
  /** Milliseconds of processor time of the thread that answers: what else the machine does hardly counts. */
  readonly p50: number;
  readonly p95: number;
  /** The time of a look that has to derive what was delivered. */
  readonly atOnce: number;
  /** Of the first look since the server started, and the longest piece of it. */
  readonly first: number;
  readonly firstStall: number;
  /** As gzip packs them, as a proxy does. */
  readonly bytes: number;
  readonly plainBytes: number;
  /** The longest that nobody else was let in, in milliseconds of processor time of the thread that answers. */
  readonly stall: number;
}

async function askPage(filled: Filled, name: string): Promise<Page> {
  const { instance, cookies, deliver } = filled;
  const viewer = VIEWERS.find((one) => name.startsWith(`${one}:`)) ?? "owner";
  const path = named(name.slice(name.indexOf("/")), filled);
  let last = { status: 0, body: "" };
  const times: number[] = [];
  const stalls: number[] = [];
  const atOnce: number[] = [];
  let first: Watched | undefined;
  // The first few wait for code to be compiled.
  for (let i = -3; i < ROUNDS + ROUNDS_AT_ONCE; i++) {
    await deliver();
    if (i < ROUNDS) await instance.settle();
    const watched = await watch(async () => {
      last = await look(instance, cookies[viewer], path);
    });
    first ??= watched;
    const { all, longest } = watched;
    if (i < 0) continue;
    (i < ROUNDS ? times : atOnce).push(all);
    stalls.push(longest);
  }
  for (const list of [times, stalls]) list.sort((a, b) => a - b);
  const { status, body } = last;
  return {
    ...{ name, status, p50: quantile(times, 0.5), p95: quantile(times, 0.95), stall: quantile(stalls, 0.95) },
    ...{ atOnce: median(atOnce), first: first?.all ?? 0, firstStall: first?.longest ?? 0 },
    bytes: gzipSync(body).byteLength,
    plainBytes: Buffer.byteLength(body),
  };
}

async function look(instance: Filled["instance"], cookie: string, path: string) {
  const reply = await instance.fetch(new Request(`http://127.0.0.1${path}`, { headers: { cookie } }));
  return { status: reply.status, body: await reply.text() };
}

interface Watched {
  readonly all: number;
  readonly longest: number;
}

/** How long some work takes, and its longest piece between two turns of the event loop; in milliseconds of this thread. */
async function watch(work: () => Promise<void>): Promise<Watched> {
  const began = threadMilliseconds();
  let [since, longest, done] = [began, 0, false];
  const turn = () => {
    const now = threadMilliseconds();
    longest = Math.max(longest, now - since);
    since = now;
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  done = true;
  const all = threadMilliseconds() - began;
  turn();
  return { all, longest };
}

function named(path: string, { instance, long }: Filled): string {
  const one = (sql: string) => String(instance.core.store.db.prepare(sql).pluck().get());
  return path
    .replace("SESSION", () => one("SELECT id FROM trace_sessions ORDER BY id DESC LIMIT 1"))
    .replace("LONG", String(long))
    .replace("ERROR", () => one("SELECT id FROM defects ORDER BY id DESC LIMIT 1"))
    .replace("CLASS", () => one("SELECT lower(hex(substr(fingerprint, 1, 4))) FROM defects ORDER BY id DESC LIMIT 1"))
    .replace("DEVICE", () => one("SELECT id FROM devices ORDER BY id LIMIT 1"));
}

/** What of a page is above its aim. */
function above({ status, p95, bytes, stall, firstStall }: Page): string {
  const misses = [
    status !== 200 && `status ${status}`,
    p95 >= AIM.milliseconds && "p95",
    bytes >= AIM.bytes && "bytes",
    stall >= AIM.milliseconds && "stall",
    firstStall >= AIM.milliseconds && "its stall",
  ];
  return misses.filter(Boolean).join(", ");
}

const HEAD = ["page", "p50 ms", "p95 ms", "at once", "first", "its stall", "bytes", "plain", "stall ms", "above aim"];
const cellsOf = (page: Page): string[] => {
  const { name, p50, p95, atOnce, first, firstStall, bytes, plainBytes, stall } = page;
  return [name, ...[p50, p95, atOnce, first, firstStall, bytes, plainBytes, stall].map(figure), above(page)];
};

function tell(pages: readonly Page[]): string {
  const missed = pages.filter((page) => above(page) !== "");
  const sum = missed.length === 0 ? "none is above aim" : `above aim: ${missed.map(({ name }) => name).join(" ")}`;
  return `${columns([HEAD, ...pages.map(cellsOf)])}\n${pages.length} pages, ${sum}`;
}

async function askAll(filled: Filled, names: readonly string[]): Promise<Page[]> {
  const pages: Page[] = [];
  for (const name of names) {
    const page = await askPage(filled, name);
    process.stderr.write(`  ${cellsOf(page).join("  ")}\n`);
    pages.push(page);
  }
  return pages;
}

export async function measurePages({ quick }: Pick<Settings, "quick">, report: Report): Promise<void> {
  const directory = newDirectory();
  const filled = await openFilled(directory, quick ? QUICK : FULL, true);
  const pages = await askAll(filled, PAGES);
  const worst = (of: (page: Page) => number) => [Math.max(...pages.map(of))];
  const slow = { unit: "ms", aim: { below: AIM.milliseconds } };
  report.result({ scenario: "slowest page, p95", ...slow, ours: worst(({ p95 }) => p95) });
  report.result({
    scenario: "longest stall of a page",
    ...slow,
    ours: worst(({ stall, firstStall }) => Math.max(stall, firstStall)),
  });
  const large = { unit: "bytes", aim: { below: AIM.bytes } };
  report.result({ scenario: "largest page, compressed", ...large, ours: worst(({ bytes }) => bytes) });
  report.note("pages", `\n${tell(pages)}`);
  await filled.instance.close();
  removeDirectory(directory);
}

if (process.argv[1] === import.meta.filename) {
  const [given, ...paths] = process.argv.slice(2);
  const directory = given === undefined ? newDirectory() : resolve(given);
  const began = performance.now();
  const filled = await openFilled(directory, process.env.QUICK ? QUICK : FULL, !existsSync(databasePath(directory)));
  console.log(`ready in ${figure((performance.now() - began) / 1000)} s`);
  console.log(tell(await askAll(filled, paths.length > 0 ? paths : PAGES)));
  await filled.instance.close();
  if (given === undefined) removeDirectory(directory);
}
