import { requestBytes, requireSuccess, Wire } from "./load.ts";
import type { Settings } from "./run.ts";
import { bindDevices, newDirectory, removeDirectory, settle, startReckon } from "./servers.ts";
import { figure, median, type Report } from "./table.ts";
import { brainPath, brainSection, randomOf, Vocabulary } from "./text.ts";

const FILES = 500;
const FILE_BYTES = 10_000;

interface File {
  readonly path: string;
  content: string;
}

/** A snapshot of 5 MB, and the same again with one file changed: unchanged files should cost next to nothing. */
export async function measureSnapshots({ quick, reckon }: Settings, report: Report): Promise<void> {
  const rounds = quick ? 3 : 7;
  const words = new Vocabulary(8_000);
  const directory = newDirectory();
  const tokens = await bindDevices(directory, rounds + 1);
  const server = await startReckon(directory, reckon);
  const wire = await Wire.open(server.address);
  const first: number[] = [];
  const second: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const next = randomOf(5_000 + round);
    const files = makeFiles(words, next);
    const publish = async (version: number): Promise<number> => {
      const body = Buffer.from(JSON.stringify({ version, repoKey: `github.com/acme/brain-${round}`, files }));
      const request = requestBytes({ method: "POST", path: "/api/brain/ingest", token: tokens[round] as string, body });
      await settle();
      const began = performance.now();
      const answer = await wire.ask(request);
      const milliseconds = performance.now() - began;
      requireSuccess(answer);
      return milliseconds;
    };
    const whole = await publish(1);
    (files[round * 7] as File).content += `\n${brainSection(words, next)}`;
    const changed = await publish(2);
    if (round > 0) {
      first.push(whole);
      second.push(changed);
    }
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
  report.note("snapshot", `the floor is the first snapshot: ${figure(median(first))} ms for ${FILES} files`);
}

/** @param size bytes of each */
export function makeFiles(words: Vocabulary, next: () => number, count = FILES, size = FILE_BYTES): File[] {
  return Array.from({ length: count }, (_, i) => {
    const parts: string[] = [];
    for (let bytes = 0; bytes < size; bytes += parts.at(-1)?.length ?? 0) parts.push(brainSection(words, next));
    return { path: brainPath(words, next, i), content: parts.join("\n\n").slice(0, size) };
  });
}
