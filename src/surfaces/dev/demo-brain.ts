import { DAY_MS, MINUTE_MS } from "../../kit/clock.ts";
import { dateOf, workday } from "./demo-calendar.ts";
import { LESSONS, type Lesson, RULES } from "./demo-lessons.ts";
import { NOTES } from "./demo-notes.ts";
import type { DemoSession } from "./demo-sessions.ts";
import type { Repo } from "./demo-tasks.ts";

/** The brains of the demo repositories: what their agents noted down, day by day. */

const FOLDER = ".claude/brain";
/** A day's notes are published in its evening; those of the start's own day shortly before it. */
const EVENING_MS = (18 * DAY_MS) / 24;
const TODAY_MS = 5 * MINUTE_MS;

const HOW_TO = `## How to write an entry

What broke, why, what fixed it, and a rule that would have prevented it. The newest stands first.
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
  const days = new Set([...LESSONS, ...NOTES].filter((one) => one.repo === repo).map(({ on }) => on));
  return [...days]
    .toSorted((a, b) => b - a)
    .map((on, i) => {
      const at = on === 0 ? startAt - TODAY_MS : workday(startAt, on) + EVENING_MS;
      return { repo, at, version: i + 1, files: brainOn(repo, on, startAt, sessions) };
    });
}

function brainOn(repo: Repo, on: number, startAt: number, sessions: readonly DemoSession[]) {
  const known = <T extends { readonly repo: Repo; readonly on: number }>(all: readonly T[]) =>
    all.filter((one) => one.repo === repo && one.on >= on).toSorted((a, b) => a.on - b.on);
  const date = (of: number) => dateOf(workday(startAt, of));
  const commit = (branch: string) => commitOf(repo, branch, sessions);
  const notes = known(NOTES).map(({ path, on: written, text }) => ({
    path: `${FOLDER}/${path}`,
    content: text
      .replaceAll("{date}", date(written))
      .replace(/\{commit:([^}]+)\}/g, (_, branch: string) => commit(branch)),
  }));
  const entries = known(LESSONS).map((one) => entry(one, date(one.on), one.from && commit(one.from)));
  return [...notes, { path: `${FOLDER}/errors.md`, content: `# Errors\n\n${HOW_TO}\n${entries.join("\n")}` }];
}

/** The last commit of a branch, shortened as people do. */
function commitOf(repo: Repo, branch: string, sessions: readonly DemoSession[]): string {
  const made = sessions.findLast((one) => one.repo === repo && one.branch === branch && one.sha !== undefined);
  if (!made?.sha) throw new Error(`the demo data names a branch without a commit: ${branch}`);
  return made.sha.slice(0, 10);
}

function entry(lesson: Lesson, date: string, commit: string | undefined): string {
  const { mark, title, broke, file, cause, fix, status, rule } = lesson;
  const where = commit ? `Introduced in \`${commit}\` (\`${file}\`).` : `In \`${file}\`.`;
  const paragraphs = [
    `## ${mark ? `${mark} ` : ""}${date} — ${title}`,
    `${broke} ${where}`,
    `**Root cause:** ${cause}`,
    fix && `**Fix:** ${fix}`,
    status && `**Status:** ${status}`,
    rule && `**Prevention rule:** ${RULES[rule]}`,
  ];
  return `${paragraphs.filter(Boolean).join("\n\n")}\n`;
}
