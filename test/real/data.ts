/**
 * Where the real data stands: brains, transcripts and traces of public repositories, kept outside this project. Every
 * test in this folder reads it there and skips where it is absent; nothing of it is copied here.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { describe, inject } from "vitest";
import { asObject, asText, parseJson } from "../../src/formats/values.ts";
import { readTranscript, type SessionFacts, type Transcript } from "./convert.ts";

const folder = process.env.RECKON_TEST_DATA ?? resolve(import.meta.dirname, "../../../shared/data");
const present = existsSync(join(folder, "MANIFEST.tsv"));
if (!present) sayOnce(`Real-input tests skipped: no data in ${folder}; set RECKON_TEST_DATA to its folder.\n`);

/** A suite that needs the data. */
export const describeReal = describe.skipIf(!present);

/** Says a line once a run, whichever file is loaded first. */
function sayOnce(line: string): void {
  try {
    writeFileSync(join(inject("runFolder"), "real-data-absent"), "", { flag: "wx" });
    writeSync(2, line);
  } catch {
    // Another test file has said it.
  }
}

/** Reads at the first call alone; the tests of a worker share what was read. */
function once<T>(read: () => T): () => T {
  let result: { readonly value: T } | undefined;
  return () => {
    result ??= { value: read() };
    return result.value;
  };
}

/** Text of a file of the data, by its path in the data folder. */
export function readData(path: string): string {
  return readFileSync(join(folder, path), "utf8");
}

/** Paths of the files under a folder of the data, sorted. */
export function listData(under: string): string[] {
  return readdirSync(join(folder, under), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

export interface BrainFile {
  readonly path: string;
  readonly content: string;
  /** Bytes of the source file on disk. */
  readonly bytes: number;
}

/** Brains by repository, each file under its real path: the collector renamed those that a client would load by itself. */
export const brains = once((): ReadonlyMap<string, readonly BrainFile[]> => {
  const paths = JSON.parse(readData("brain/PATHS.json")) as Record<string, Record<string, string>>;
  return new Map(
    Object.entries(paths).map(([repo, files]) => [
      repo,
      Object.entries(files).map(([file, path]) => {
        const source = readFileSync(join(folder, "brain", file));
        return { path, content: source.toString("utf8"), bytes: source.length };
      }),
    ]),
  );
});

export interface RealTranscript {
  /** In the folder of transcripts, without extension. */
  readonly name: string;
  readonly repoKey: string;
  readonly text: string;
  readonly transcript: Transcript;
  readonly facts: SessionFacts;
}

/** Every transcript, with what the capture tool wrote beside it. */
export const transcripts = once((): readonly RealTranscript[] =>
  listData("transcripts")
    .filter((path) => /^transcripts\/[^/]+\/[^/]+\/[^/]+\.jsonl?$/.test(path) && !path.endsWith(".meta.json"))
    .map((path) => {
      const [, format = "", repository = ""] = path.split("/");
      const text = readData(path);
      const stem = path.replace(/\.jsonl?$/, "");
      return {
        name: stem.slice("transcripts/".length),
        repoKey: `github.com/${repository.replace("__", "/")}`,
        text,
        transcript: readTranscript(format === "fixtures" ? "claude-code" : format, path, text),
        facts: factsOf(join(folder, `${stem}.meta.json`), repository),
      };
    }),
);

/** What the capture tool knew of a session: its branch, files and, by the checkpoint's id in a trailer, its commits. */
function factsOf(metaFile: string, repository: string): SessionFacts {
  if (!existsSync(metaFile)) return {};
  const meta = asObject(parseJson(readFileSync(metaFile, "utf8")));
  const branch = asText(meta.branch);
  const checkpoint = asText(meta.checkpoint_id);
  const files = Array.isArray(meta.files_touched) ? meta.files_touched.filter((file) => typeof file === "string") : [];
  return {
    ...(branch === undefined ? {} : { branch }),
    files,
    commits: checkpoint === undefined ? [] : commitsOf(repository, checkpoint),
  };
}

function commitsOf(repository: string, checkpoint: string): { sha: string; at: string }[] {
  const path = join(folder, "githistory", repository, "commits.jsonl");
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  return lines
    .filter((line) => line.includes(checkpoint))
    .map((line) => JSON.parse(line) as { sha: string; commit_date: string; checkpoints: string[] })
    .filter((commit) => commit.checkpoints.includes(checkpoint))
    .map(({ sha, commit_date }) => ({ sha, at: commit_date }));
}
