import { sections } from "../../src/kit/markdown.ts";
import { requestBytes, requireSuccess, Wire } from "./load.ts";
import type { Settings } from "./run.ts";
import { bindDevices, newDirectory, removeDirectory, settle, startReckon } from "./servers.ts";
import { figure, median, quantile, type Report } from "./table.ts";
import { brainPath, brainSection, randomOf, Vocabulary } from "./text.ts";

const REPOS = 8;
const FILES = 64;
const SECTIONS = 20;

interface Query {
  readonly kind: string;
  readonly text: string;
}

/** Search over ten thousand sections, as one person sees it, and what building the index does to others. */
export async function measureSearch({ quick, reckon }: Settings, report: Report): Promise<void> {
  const rounds = quick ? 1 : 3;
  const words = new Vocabulary(12_000);
  const snapshots = makeSnapshots(words);
  const held = snapshots.flatMap(({ files }) => files).reduce((sum, file) => sum + sections(file.content).length, 0);
  const queries = makeQueries(words, quick ? 600 : 2_000);
  const found: Measured[] = [];
  for (let i = 0; i < rounds; i++) found.push(await oneServer(reckon, snapshots, queries));
  const scenario = `search, ${held} sections`;
  const at = (share: number) => found.map(({ times }) => quantile(times.map(({ ms }) => ms).sort(ascending), share));
  report.result({ scenario: `${scenario}, p50`, unit: "ms", ours: at(0.5), aim: { below: 2 } });
  report.result({ scenario: `${scenario}, p99`, unit: "ms", ours: at(0.99), aim: { below: 10 } });
  report.note(
    scenario,
    `index built in ${figure(median(found.map(({ buildMs }) => buildMs)))} ms; meanwhile another request waited at most ` +
      `${figure(Math.max(...found.map(({ stallMs }) => stallMs)))} ms (${figure(median(found.map(({ restMs }) => restMs)))} ms at rest)`,
  );
  const times = found.flatMap((one) => one.times);
  for (const [kind, ofKind] of Map.groupBy(times, (time) => time.kind)) {
    const sorted = ofKind.map(({ ms }) => ms).sort(ascending);
    const hits = ofKind.filter(({ total }) => total > 0).length / ofKind.length;
    report.note(
      "search",
      `${kind}: p50 ${figure(quantile(sorted, 0.5))}, p99 ${figure(quantile(sorted, 0.99))} ms; ` +
        `${figure(100 * hits)} % with hits, ${figure(median(ofKind.map(({ total }) => total)))} each`,
    );
  }
}

const ascending = (a: number, b: number) => a - b;

interface Snapshot {
  readonly version: number;
  readonly repoKey: string;
  readonly files: readonly { readonly path: string; readonly content: string }[];
}

function makeSnapshots(words: Vocabulary): Snapshot[] {
  return Array.from({ length: REPOS }, (_, repo) => {
    const next = randomOf(1000 + repo);
    const files = Array.from({ length: FILES }, (_, i) => ({
      path: brainPath(words, next, i),
      content: Array.from({ length: SECTIONS }, () => brainSection(words, next)).join("\n\n"),
    }));
    return { version: 1, repoKey: `github.com/acme/repo-${repo}`, files };
  });
}

/** What people type: words common and rare, one to five of them, cut short, mistyped, or of something else altogether. */
function makeQueries(words: Vocabulary, count: number): Query[] {
  const next = randomOf(99);
  const of = (from: number, to: number) => words.words[from + Math.floor(next() * (to - from))] as string;
  const mistyped = (word: string) => {
    const at = 1 + Math.floor(next() * (word.length - 2));
    return `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`;
  };
  const long = (from: number, to: number): string => {
    const word = of(from, to);
    return word.length >= 6 ? word : long(from, to);
  };
  const kinds: Record<string, () => string> = {
    "one common word": () => of(0, 100),
    "one rare word": () => of(3_000, 12_000),
    "two words": () => `${of(30, 400)} ${of(100, 2_000)}`,
    "three words": () => `${of(20, 300)} ${of(100, 1_000)} ${of(100, 2_000)}`,
    "five words": () => Array.from({ length: 5 }, () => words.pick(next)).join(" "),
    "a beginning": () => long(50, 3_000).slice(0, 3 + Math.floor(next() * 3)),
    "a mistyped word": () => mistyped(long(100, 3_000)),
    nothing: () => `qqz${Math.floor(next() * 1e6)} zzx`,
  };
  const names = Object.keys(kinds);
  return Array.from({ length: count }, (_, i) => {
    const kind = names[i % names.length] as string;
    return { kind, text: (kinds[kind] as () => string)() };
  });
}

interface Measured {
  readonly buildMs: number;
  /** The longest another request waited while the index was built, and before that. */
  readonly stallMs: number;
  readonly restMs: number;
  readonly times: readonly { readonly kind: string; readonly ms: number; readonly total: number }[];
}

async function oneServer(reckon: Settings["reckon"], snapshots: Snapshot[], queries: Query[]): Promise<Measured> {
  const directory = newDirectory();
  const [token = ""] = await bindDevices(directory, 1);
  const server = await startReckon(directory, reckon);
  const wire = await Wire.open(server.address);
  for (const snapshot of snapshots) {
    const body = Buffer.from(JSON.stringify(snapshot));
    requireSuccess(await wire.ask(requestBytes({ method: "POST", path: "/api/brain/ingest", token, body })));
  }
  await settle();
  const search = async ({ kind, text }: Query) => {
    const request = requestBytes({ path: `/api/brain/search?q=${encodeURIComponent(text)}`, token });
    const began = performance.now();
    const answer = await wire.ask(request);
    const ms = performance.now() - began;
    requireSuccess(answer);
    return { kind, ms, total: (JSON.parse(answer.body.toString()) as { total: number }).total };
  };
  const atRest = pinger(await Wire.open(server.address));
  await settle();
  const restMs = await atRest.stop();
  const beside = pinger(await Wire.open(server.address));
  const { ms: buildMs } = await search({ kind: "first", text: "anything" });
  const stallMs = await beside.stop();
  // The first queries are slow until their code is compiled; a server is asked more than once.
  for (const query of queries.slice(0, 200)) await search(query);
  const times: Awaited<ReturnType<typeof search>>[] = [];
  for (const query of queries) times.push(await search(query));
  wire.close();
  await server.stop();
  removeDirectory(directory);
  return { buildMs, stallMs, restMs, times };
}

/** Asks for the health all the time. */
function pinger(wire: Wire): { stop(): Promise<number> } {
  const request = requestBytes({ path: "/api/health" });
  let stopped = false;
  const longest = (async () => {
    let most = 0;
    while (!stopped) {
      const began = performance.now();
      requireSuccess(await wire.ask(request));
      most = Math.max(most, performance.now() - began);
    }
    wire.close();
    return most;
  })();
  return {
    stop: () => {
      stopped = true;
      return longest;
    },
  };
}
