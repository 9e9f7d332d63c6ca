import { type EditTexts, readEditTexts } from "../../../../formats/edit-texts.ts";
import { diffLines, type Hunk } from "../../../../kit/diff.ts";
import { type Content, html } from "../../../../kit/html.ts";
import { readPatch } from "../../../../kit/patch.ts";
import type { Span } from "../../../../record/traces/traces.ts";
import { diff } from "../../ui/diff.ts";
import { number } from "../../ui/units.ts";
import { short } from "../shared/text.ts";
import { type Budget, tooMuch } from "./said.ts";

/** Edits as what they changed. */

/** A change of one file, to be shown. */
interface Change {
  readonly path: string | null;
  readonly hunks: readonly Hunk[];
  readonly numbered: boolean;
  /** How much text it holds, in UTF-16 units. */
  readonly chars: number;
}

/** Beyond this, finding how two texts differ is not worth the time of a page. */
const MAX_TEXT = 64 * 1024;
/** Changes of one step that are shown. */
const MAX_CHANGES = 12;
/** A change of so many lines is shown at once, a longer one behind a click. */
const OPEN_LINES = 24;
const MAX_LINES = 600;

/** What an editing step changed, and what else its input says; undefined for a step whose input is no edit that is understood. */
export function changesOf({
  input,
  edits,
}: Span): { readonly changes: readonly Change[]; readonly rest: string } | undefined {
  const patched = edits.flatMap(({ path, patch }) => (patch === null ? [] : ofPatch(patch, path)));
  const texts = readEditTexts(input);
  if (!texts) return patched.length > 0 ? { changes: patched, rest: "" } : undefined;
  if (patched.length > 0) return { changes: patched, rest: texts.rest };
  const changes = texts.patch === null ? ofTexts(texts, edits) : ofPatch(texts.patch, null);
  return changes.length > 0 ? { changes, rest: texts.rest } : undefined;
}

const ofPatch = (patch: string, path: string | null): Change[] =>
  readPatch(patch.slice(0, 4 * MAX_TEXT)).map((file) => ({
    ...file,
    path: file.path ?? path,
    chars: charsOf(file.hunks),
  }));

function ofTexts({ texts }: EditTexts, edits: Span["edits"]): Change[] {
  // Where a single place was edited, the step may tell at which line.
  const from = texts.length === 1 && edits.length === 1 ? (edits[0]?.startLine ?? null) : null;
  return texts.slice(0, MAX_CHANGES).flatMap(({ path, before, after }): Change[] => {
    if (before.length + after.length > MAX_TEXT) return [];
    const { hunks, tooDifferent } = diffLines(ended(before), ended(after));
    if (tooDifferent || hunks.length === 0) return [];
    const moved = hunks.map((hunk) => ({
      ...hunk,
      oldStart: hunk.oldStart + (from ?? 1) - 1,
      newStart: hunk.newStart + (from ?? 1) - 1,
    }));
    const numbered = from !== null || before === "";
    return [
      { path: edits.length === 1 ? (edits[0]?.path ?? path) : path, hunks: moved, numbered, chars: charsOf(hunks) },
    ];
  });
}

/** A missing line end after the last line is no difference to a reader. */
const ended = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

const charsOf = (hunks: readonly Hunk[]) =>
  hunks.reduce((sum, { lines }) => sum + lines.reduce((chars, { text }) => chars + text.length, 0), 0);

/**
 * @param note beside the file's name
 * @param label tells it from every other on the page
 */
export function drawChanges(changes: readonly Change[], note: Content, label: string, budget: Budget): Content {
  return html`${changes.slice(0, MAX_CHANGES).map((change, i) => drawChange(change, note, changes.length > 1 ? `${label}, ${i + 1}` : label, budget))}${changes.length > MAX_CHANGES && html`<p class="says">${number(changes.length - MAX_CHANGES)} more changes.</p>`}`;
}

function drawChange({ path, hunks, numbered, chars }: Change, note: Content, label: string, budget: Budget): Content {
  const count = (kind: "added" | "removed") =>
    hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0);
  const [added, removed] = [count("added"), count("removed")];
  const summary = html`${path && html`<code>${short(path, 240)}</code> `}<span class="plus">+${number(added)}</span> <span class="minus">−${number(removed)}</span>${note}`;
  budget.text -= chars;
  if (budget.text < 0) return html`<p class="says">${summary}: ${tooMuch}</p>`;
  const name = `${label}${path === null ? "" : `, ${short(path, 120)}`}`;
  return html`<details class="change"${added + removed <= OPEN_LINES && html` open`}><summary>${summary}</summary>${diff(name, cut(hunks), numbered)}</details>`;
}

/** The first lines of a change. */
function cut(hunks: readonly Hunk[]): Hunk[] {
  let left = MAX_LINES;
  return hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, Math.max(0, left));
    left -= lines.length;
    return lines.length > 0 ? [{ ...hunk, lines }] : [];
  });
}
