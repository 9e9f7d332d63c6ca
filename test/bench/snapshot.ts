import { sha256Hex } from "../../src/kit/hash.ts";
import { requestBytes, requireSuccess, Wire } from "./load.ts";
import type { Settings } from "./run.ts";
import { bindDevices, changeRows, newDirectory, removeDirectory, settle, startReckon } from "./servers.ts";
import { figure, median, type Report } from "./table.ts";
import { brainPath, brainSection, randomOf, Vocabulary } from "./text.ts";

const FILES = 500;
const FILE_BYTES = 10_000;

interface File {
  readonly path: string;
  content: string;
}

/** Lets nothing be recorded of what the team that was made last sends: its bodies are received, parsed and hashed all the same. */
const RECORD_NOTHING = `INSERT INTO policies (team_id, document, created_at)
  SELECT id, '{"version":1,"watchlist":[],"captureMode":"off"}', 1 FROM teams ORDER BY rowid DESC LIMIT 1`;

/**
 * A snapshot of 5 MB, and the same again with one file changed: unchanged files should cost next to nothing. As a whole, and as the capture
 * client sends it, which names what did not change.
 */
export async function measureSnapshots({ quick, reckon }: Settings, report: Report): Promise<void> {
  const rounds = quick ? 3 : 7;
  const words = new Vocabulary(8_000);
  const directory = newDirectory();
  const tokens = await bindDevices(directory, rounds + 1);
  const [reader = ""] = await bindDevices(directory, 1);
  changeRows(directory, RECORD_NOTHING);
  const server = await startReckon(directory, reckon);
  const wire = await Wire.open(server.address);
  const first: number[] = [];
  const second: number[] = [];
  const named: number[] = [];
  const read: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const next = randomOf(5_000 + round);
    const files = makeFiles(words, next);
    const change = (i: number) => {
      (files[i] as File).content += `\n${brainSection(words, next)}`;
      return i;
    };
    const publish = async (version: number, token = tokens[round] as string, sent: object[] = files) => {
      const body = Buffer.from(JSON.stringify({ version, repoKey: `github.com/acme/brain-${round}`, files: sent }));
      const request = requestBytes({ method: "POST", path: "/api/brain/ingest", token, body });
      await settle();
      const began = performance.now();
      const answer = await wire.ask(request);
      const milliseconds = performance.now() - began;
      requireSuccess(answer);
      return milliseconds;
    };
    const whole = await publish(1);
    change(round * 7);
    const again = await publish(2);
    const changed = change(round * 7 + 1);
    const inPart = files.map(({ path, content }, i) =>
      i === changed ? { path, content } : { path, contentSha256: sha256Hex(content) },
    );
    const last = await publish(3, undefined, inPart);
    if (round > 0) {
      first.push(whole);
      second.push(again);
      named.push(last);
    }
    const unkept = await publish(2, reader);
    if (round > 0) read.push(unkept);
  }
  wire.close();
  await server.stop();
  removeDirectory(directory);
  report.result({
    scenario: "snapshot of 5 MB again, one file changed",
    unit: "ms",
    ours: second,
    floor: first,
    aim: { below: 0.15 },
  });
  report.result({
    scenario: "the same as the capture client sends it",
    unit: "ms",
    ours: named,
    floor: first,
    aim: { below: 0.15 },
  });
  report.note(
    "snapshot",
    `the floor is the first snapshot: ${figure(median(first))} ms for ${FILES} files; where nothing may be recorded of it, so that it ` +
      `is received, parsed and hashed alone, it takes ${figure(median(read))} ms`,
  );
}

/** @param size bytes of each */
export function makeFiles(words: Vocabulary, next: () => number, count = FILES, size = FILE_BYTES): File[] {
  return Array.from({ length: count }, (_, i) => {
    const parts: string[] = [];
    for (let bytes = 0; bytes < size; bytes += parts.at(-1)?.length ?? 0) parts.push(brainSection(words, next));
    return { path: brainPath(words, next, i), content: parts.join("\n\n").slice(0, size) };
  });
}
