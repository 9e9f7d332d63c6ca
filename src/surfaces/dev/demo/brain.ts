import { DAY_MS, isoDate, MINUTE_MS } from "../../../kit/clock.ts";
import { workday } from "./calendar.ts";
import { type Lesson, type Repo, readLessons, readNotes } from "./data.ts";
import type { DemoSession } from "./sessions.ts";

/** The brains of the demo repositories: what their agents noted down, day by day. */

const FOLDER = ".claude/brain";
/** A day's notes are published in its evening; those of the start's own day shortly before it. */
const EVENING_MS = (18 * DAY_MS) / 24;
const TODAY_MS = 5 * MINUTE_MS;

const HOW_TO = `What broke, why, what fixed it, and a rule that would have prevented it. The newest stands first.
`;

/** A published state of a repository's brain. */
export interface Publication {
  readonly repo: Repo;
  readonly at: number;
  readonly version: number;
  readonly files: readonly { readonly path: string; readonly content: string }[];
}

/** Every state of a repository's brain: one for each day on which something was noted down. */
export function publications(repo: Repo, sessions: readonly DemoSession[], startAt: number): Publication[] {
  const { rules, lessons } = readLessons();
  const notes = readNotes();
  const days = new Set([...lessons, ...notes].filter((item) => item.repo === repo).map(({ on }) => on));
  const date = (on: number) => isoDate(workday(startAt, on));
  const commit = (branch: string) => commitOf(repo, branch, sessions);
  const filesOn = (day: number) => {
    const upTo = <T extends { readonly repo: Repo; readonly on: number }>(all: readonly T[]) =>
      all.filter((item) => item.repo === repo && item.on >= day).toSorted((a, b) => a.on - b.on);
    const files = upTo(notes).map(({ path, on, text }) => ({
      path: `${FOLDER}/${path}`,
      content: text
        .replaceAll("{date}", date(on))
        .replace(/\{commit:([^}]+)\}/g, (_, branch: string) => commit(branch)),
    }));
    const entries = upTo(lessons).map((lesson) =>
      entry(lesson, date(lesson.on), lesson.from && commit(lesson.from), lesson.rule && rules[lesson.rule]),
    );
    return [...files, { path: `${FOLDER}/errors.md`, content: `# Errors\n\n${HOW_TO}\n${entries.join("\n")}` }];
  };
  return [...days]
    .toSorted((a, b) => b - a)
    .map((on, i) => {
      const at = on === 0 ? startAt - TODAY_MS : workday(startAt, on) + EVENING_MS;
      return { repo, at, version: i + 1, files: filesOn(on) };
    });
}

/** The last commit of a branch, shortened as people do. */
function commitOf(repo: Repo, branch: string, sessions: readonly DemoSession[]): string {
  const made = sessions.findLast((one) => one.repo === repo && one.branch === branch && one.sha !== undefined);
  if (!made?.sha) throw new Error(`the demo data names a branch without a commit: ${branch}`);
  return made.sha.slice(0, 10);
}

function entry(lesson: Lesson, date: string, commit: string | undefined, rule: string | undefined): string {
  const { mark, title, broke, file, cause, fix, status } = lesson;
  const where = commit ? `Introduced in \`${commit}\` (\`${file}\`).` : `In \`${file}\`.`;
  const paragraphs = [
    `## ${mark ? `${mark} ` : ""}${date} — ${title}`,
    `${broke} ${where}`,
    `**Root cause:** ${cause}`,
    fix && `**Fix:** ${fix}`,
    status && `**Status:** ${status}`,
    rule && `**Prevention rule:** ${rule}`,
  ];
  return `${paragraphs.filter(Boolean).join("\n\n")}\n`;
}
