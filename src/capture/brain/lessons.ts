import { fold } from "../../formats/errors/fingerprint.ts";
import { oneLine } from "../../kit/strings.ts";
import { redactText } from "../../redact/redact.ts";
import { blockBytes } from "./block.ts";

export type Confidence = "high" | "medium" | "low";

/** What one class of errors teaches. */
export interface Lesson {
  /** First 8 hexadecimal digits. */
  readonly fingerprint: string;
  /** Title of the newest entry. */
  readonly title: string;
  /** What its entries say must be done; null where they do not. */
  readonly rule: string | null;
  readonly occurrences: number;
  /** YYYY-MM-DD. */
  readonly lastSeen: string;
  /** Whether a person confirmed what caused one of its entries. */
  readonly confirmed: boolean;
  /** Sessions of the last days that edited files which its entries name. */
  readonly sessions: number;
}

/** Lessons sorted by what is done with them. */
export interface Decided {
  readonly accepted: readonly Lesson[];
  /** For a person to judge. */
  readonly proposed: readonly Lesson[];
}

const MAX_ACCEPTED: Readonly<Record<Confidence, number>> = { high: 20, medium: 8, low: 0 };
const MAX_PROMOTED = 10;
const MAX_SECTIONS = 12;
const MAX_BLOCK_BYTES = 1_500;
const MAX_TITLE_CHARS = 60;
const MAX_RULE_CHARS = 200;
const BLOCK_HEAD = [
  "## Lessons from errors that came back",
  "",
  "From this repository's errors files: what happened more than once, or had its cause confirmed.",
];

const ORDER: readonly Confidence[] = ["high", "medium", "low"];

/** How sure it is that a lesson is worth following: its class came back often, or a person confirmed a cause. */
export function confidenceOf({ rule, occurrences, confirmed }: Lesson): Confidence {
  if (rule === null || fold(rule) === "") return "low";
  return occurrences > 2 || (occurrences > 1 && confirmed) ? "high" : "medium";
}

/** Decides which lessons are accepted without a person. The result depends on the lessons alone. */
export function decide(lessons: readonly Lesson[]): Decided {
  const sorted = lessons.filter(({ occurrences, confirmed }) => occurrences > 1 || confirmed).toSorted(byWeight);
  const left = { ...MAX_ACCEPTED };
  const isAccepted = new Set(sorted.filter((lesson) => left[confidenceOf(lesson)]-- > 0));
  return {
    accepted: sorted.filter((lesson) => isAccepted.has(lesson)),
    proposed: sorted.filter((lesson) => !isAccepted.has(lesson)),
  };
}

function byWeight(a: Lesson, b: Lesson): number {
  return (
    ORDER.indexOf(confidenceOf(a)) - ORDER.indexOf(confidenceOf(b)) ||
    b.sessions - a.sessions ||
    b.occurrences - a.occurrences ||
    (a.lastSeen < b.lastSeen ? 1 : a.lastSeen > b.lastSeen ? -1 : 0) ||
    (a.fingerprint < b.fingerprint ? -1 : 1)
  );
}

/**
 * The lines of the instructions' block: the first ten accepted lessons, and further ones that stand there already as long as there is room;
 * 12 sections and 1,500 bytes in all. Given its own result, it returns the same.
 * @param standing the lines of the block as it is
 * @returns Latin-1, as `withBlock` takes them; none without lessons
 */
export function blockOf({ accepted }: Decided, standing: readonly string[]): string[] {
  const sections = accepted.map(sectionOf);
  const before = new Set(standing);
  const candidates = [
    ...sections.slice(0, MAX_PROMOTED),
    ...sections.slice(MAX_PROMOTED).filter(([, , rule = ""]) => before.has(rule)),
  ];
  let lines: string[] = [];
  let count = 0;
  for (const section of candidates) {
    const longer = [...(count === 0 ? BLOCK_HEAD.map(asLatin1) : lines), ...section];
    if (count >= MAX_SECTIONS || blockBytes(longer) > MAX_BLOCK_BYTES) continue;
    lines = longer;
    count++;
  }
  return lines;
}

const asLatin1 = (text: string) => Buffer.from(text).toString("latin1");

const sectionOf = ({ title, rule }: Lesson): string[] =>
  ["", `### ${quiet(title, MAX_TITLE_CHARS) || "Untitled"}`, quiet(rule ?? "", MAX_RULE_CHARS)].map(asLatin1);

/**
 * Others' words made fit to stand among instructions: on one line, without invisible characters and markup. An @ before a name would make
 * agents read that file, unless it stands in code.
 */
function quiet(text: string, most: number): string {
  const plain = redactText(text)
    .text.replace(/(?![\u200c\u200d])\p{Cf}/gu, "")
    .replaceAll("`", "'")
    .replace(/<!--|-->/g, "--");
  return oneLine(plain, most)
    .replace(/@[^\s@]*/g, "`$&`")
    .replace(/^[#>\-+*=~|\s]+/, "");
}

const MANAGED = "<!-- Written by `reckon agent nightly`: changes in here are lost with its next run. -->";

/** Whether a file is one that this program wrote. */
export const isLessonsFile = (text: string): boolean => text.startsWith(MANAGED);

/** The file in the brain with all lessons, those for a person to judge too; empty without any. */
export function lessonsFile({ accepted, proposed }: Decided): string {
  if (accepted.length + proposed.length === 0) return "";
  const list = (lessons: readonly Lesson[]) => (lessons.length > 0 ? lessons.map(lineOf).join("\n") : "None.");
  return `${MANAGED}

# Lessons

What came back in the errors files of this repository, and what a person confirmed the cause of.

## Accepted

${list(accepted)}

## Proposed

For a person to judge: write a prevention rule under its entries, confirm what caused one of them, or put it among the instructions.

${list(proposed)}
`;
}

function lineOf(lesson: Lesson): string {
  const { fingerprint, title, rule, occurrences, lastSeen, confirmed } = lesson;
  const facts = [
    `${confidenceOf(lesson)} confidence`,
    `${occurrences} ${occurrences === 1 ? "entry" : "entries"}, the last of ${lastSeen}`,
    ...(confirmed ? ["cause confirmed"] : []),
    fingerprint,
  ];
  const words = rule === null ? "No prevention rule yet." : quiet(rule, 500);
  return `- **${quiet(title, 200) || "Untitled"}**: ${words} (${facts.join("; ")})`;
}
