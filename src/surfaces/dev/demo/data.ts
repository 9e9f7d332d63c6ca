import { readAsset } from "../../../kit/assets.ts";

/** What the demo team's agents were asked to do and wrote down, in three repositories of an invented shop; from `src/assets/demo`. */

export const REPOS = {
  shop: "github.com/brightloom/shop",
  parcels: "github.com/brightloom/parcel-sync",
  app: "github.com/brightloom/app",
} as const;
export type Repo = keyof typeof REPOS;

/** The machines, by number. Each names its person by the beginning of their address. */
export const DEVICES = [
  { label: "Mira's laptop", of: "mira" },
  { label: "Tomas's laptop", of: "tomas" },
  { label: "build agent 2", of: "jonas" },
  { label: "Aylin's laptop", of: "aylin" },
  { label: "Jonas's workstation", of: "jonas" },
  { label: "Priya's laptop", of: "priya" },
  { label: "Lena's laptop", of: "lena" },
] as const;

export interface Task {
  readonly branch: string;
  /** The number of the device that works on it. */
  readonly device: number;
  /** Files that are read, then edited. */
  readonly files: readonly string[];
  readonly command: string;
  /** Of its commits. */
  readonly message: string;
  /** The sessions it took. */
  readonly sessions: readonly PlannedSession[];
}

export interface PlannedSession {
  /** Working days before the instance's start. */
  readonly on: number;
  readonly outcome: "success" | "partial" | "failure" | "abandoned";
  /** What was asked, in turns. */
  readonly prompts: readonly string[];
}

/** A file of the brain beside `errors.md`. */
export interface Note {
  readonly repo: Repo;
  /** Working days before the start on which it was written. */
  readonly on: number;
  /** Below `.claude/brain/`. */
  readonly path: string;
}

/** A defect, as agents note it down in `errors.md`. */
export interface Lesson {
  readonly repo: Repo;
  /** Working days before the start on which it was found. */
  readonly on: number;
  /** What its heading begins with while it is open. */
  readonly mark?: "⌛" | "⚠";
  readonly title: string;
  readonly file: string;
  /** The branch whose commit brought the defect in, where the entry names that commit; otherwise it names the file alone. */
  readonly from?: string;
  readonly broke: string;
  readonly cause: string;
  readonly fix?: string;
  /** A Status line. */
  readonly status?: string;
  /** One of `rules`. A lesson that came again belongs to one class, whose rule stands under several entries. */
  readonly rule?: string;
}

const read = <T>(name: string): T => JSON.parse(readAsset(`src/assets/demo/${name}`)) as T;

export function readTasks(): (Task & { readonly repo: Repo })[] {
  const tasks = read<Record<Repo, readonly Task[]>>("tasks.json");
  return (Object.keys(REPOS) as Repo[]).flatMap((repo) => tasks[repo].map((task) => ({ ...task, repo })));
}

export const readLessons = () =>
  read<{ readonly rules: Readonly<Record<string, string>>; readonly lessons: readonly Lesson[] }>("lessons.json");

/** The output of failing commands, by command; files before and after, by path; a model's last words, by branch. */
export const readSaid = () =>
  read<{
    readonly failed: Readonly<Record<string, string>>;
    readonly edits: Readonly<Record<string, readonly [before: string, after: string]>>;
    readonly answers: Readonly<Record<string, string>>;
  }>("said.json");

/** In `text`, `{date}` stands for the day, `{commit:BRANCH}` for the commit that a branch had by then. */
export const readNotes = (): (Note & { readonly text: string })[] =>
  read<readonly Note[]>("notes.json").map((note) => ({
    ...note,
    text: readAsset(`src/assets/demo/brains/${note.repo}/${note.path}`),
  }));
