import { styleText } from "node:util";
import { systemClock } from "../../kit/clock.ts";
import type { Steps } from "../../kit/steps.ts";
import { cooperative } from "../../kit/yield.ts";
import { endSteps, processSteps } from "./progress.ts";

/** What a command prints on: the process's own streams, or those of whoever runs it from elsewhere. */
export interface Io {
  /** Results. */
  out(text: string): void;
  /** A part of a long result; to be awaited before the next, since its reader may be slower. */
  piece(text: string): Promise<void>;
  /** Everything else. */
  err(text: string): void;
  /** Whether results are read by a person, on a terminal. */
  readonly isTerminal: boolean;
  /** Shows how far long work is, until something is printed. */
  readonly steps: Steps;
}

export const PROCESS_IO: Io = {
  out(text) {
    endSteps();
    process.stdout.write(text);
  },
  piece(text) {
    endSteps();
    // A reader that has gone away is not waited for.
    return new Promise((resolve) => process.stdout.write(text, () => resolve()));
  },
  err(text) {
    endSteps();
    process.stderr.write(text);
  },
  get isTerminal() {
    return process.stdout.isTTY;
  },
  steps: processSteps,
};

/** Where a command's results go: stdout for results, stderr for everything else. */
export interface Output {
  readonly json: boolean;
  /** Prints the result: one JSON document with `--json`, else what `plain` gives. */
  result(value: unknown, plain: () => string | Table): void;
  /** Prints a list, however long: in pieces, between which others get their turn, and of which none is larger than is sent. */
  list<T>(items: Iterable<T>, listing: Listing<T>): Promise<void>;
  /** A remark for a person; never part of the result. */
  note(text: string): void;
  /** The line of another command that does its work in the same place. @param words from the command on */
  reckon(words: string): string;
  /** Shows how far long work is: on a terminal from the first second on, elsewhere now and then. */
  readonly steps: Steps;
}

type Cell = string | number | null;

/** How a list is shown. */
export interface Listing<T> {
  /** What `--json` has of each. */
  readonly json: (item: T) => unknown;
  readonly headings: readonly string[];
  readonly cells: (item: T) => readonly Cell[];
  /** What a person reads where there is nothing. */
  readonly empty: string;
}

const PIECE_CHARS = 64 * 1024;

export function createOutput(
  json: boolean,
  io: Io = PROCESS_IO,
  reckon = (words: string) => `reckon ${words}`,
): Output {
  return {
    json,
    reckon,
    result(value, plain) {
      const shown = json ? JSON.stringify(value, null, 2) : plain();
      const text = typeof shown === "string" ? shown : shown.render(io.isTerminal);
      if (text !== "") io.out(text.endsWith("\n") ? text : `${text}\n`);
    },
    async list(items, listing) {
      const yieldNow = cooperative(systemClock);
      let piece = "";
      for (const text of json ? jsonOf(items, listing.json) : linesOf(items, listing, io.isTerminal)) {
        piece += text;
        if (piece.length > PIECE_CHARS) {
          await io.piece(piece);
          piece = "";
        }
        const wait = yieldNow();
        if (wait) await wait;
      }
      if (piece !== "") await io.piece(piece);
    },
    note: (text) => io.err(`${printableLines(text)}\n`),
    steps: io.steps,
  };
}

/** What a command says that ends something by its id, which may have ended before. */
export const revokedText = (id: string, changed: boolean): string =>
  `${id} ${changed ? "is revoked" : "was revoked before"}`;

/** Most of what is printed, found sooner than what is not to be. */
const PLAIN = /^[ -~]*$/;

/** Control characters in what agents named things would act on a terminal, and signs of direction show one name as another. */
export const printable = (text: string) =>
  PLAIN.test(text) ? text : text.replace(/[\p{Cc}\u2028\u2029]|(?![\u200c\u200d])\p{Cf}/gu, "?");

/** The same of several lines: remarks and errors quote files and servers. */
export const printableLines = (text: string) => text.replace(/[^\n\t]+/g, printable);

/** What changes a terminal's colours and nothing else (ECMA-48 section 8.3.117). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const COLOURS = /(\u001b\[[\d;]*m)/;

/** What a server elsewhere prints: of what would act on a terminal its colours alone. */
export const printableWithColours = (text: string) =>
  text
    .split(COLOURS)
    .map((part, i) => (i % 2 === 1 ? part : printableLines(part)))
    .join("");

/** The text of a document as `JSON.stringify` makes it of the whole list. */
function* jsonOf<T>(items: Iterable<T>, asJson: (item: T) => unknown): Generator<string> {
  let before = "[";
  for (const item of items) {
    yield `${before}\n  ${JSON.stringify(asJson(item), null, 2).replaceAll("\n", "\n  ")}`;
    before = ",";
  }
  yield before === "[" ? "[]\n" : "\n]\n";
}

const shownCell = (cell: Cell) => printable(cell === null ? "-" : String(cell));

/** Lines for a person: aligned under a heading on a terminal, tab-separated in a pipe. Nothing at times, while it reads what there is. */
function* linesOf<T>(
  items: Iterable<T>,
  { headings, cells, empty }: Omit<Listing<T>, "json">,
  isTerminal: boolean,
): Generator<string> {
  const rows: (readonly string[])[] = [];
  const widths = headings.map(({ length }) => length);
  for (const item of items) {
    const row = cells(item).map(shownCell);
    for (const [i, { length }] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, length);
    if (isTerminal) rows.push(row);
    yield isTerminal ? "" : `${row.join("\t")}\n`;
  }
  if (!isTerminal) return;
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd();
  yield rows.length === 0 ? `${empty}\n` : `${styleText("bold", line(headings))}\n`;
  for (const row of rows) yield `${line(row)}\n`;
}

/** Rows for a person. */
class Table {
  readonly #headings: readonly string[];
  readonly #rows: readonly (readonly Cell[])[];
  readonly #empty: string;
  constructor(headings: readonly string[], rows: readonly (readonly Cell[])[], empty: string) {
    this.#headings = headings;
    this.#rows = rows;
    this.#empty = empty;
  }

  render(isTerminal: boolean): string {
    const shown = { headings: this.#headings, cells: (row: readonly Cell[]) => row, empty: this.#empty };
    return [...linesOf(this.#rows, shown, isTerminal)].join("").replace(/\n$/, "");
  }

  /** For this process's own output. */
  toString(): string {
    return this.render(PROCESS_IO.isTerminal);
  }
}

export type { Table };

/** Makes a table. @param empty what a person reads where there are no rows */
export const table = (headings: readonly string[], rows: readonly (readonly Cell[])[], empty: string): Table =>
  new Table(headings, rows, empty);

/** Facts of one thing, a line each. */
export function facts(rows: readonly (readonly [string, string | number | null])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows
    .map(([name, value]) => `${name.padEnd(width)}  ${value === null ? "-" : printable(String(value))}`)
    .join("\n");
}

/** To the cent, below ten of them to three digits; nothing priced is no sum at all. */
export function dollars(usd: number | null, none: string): string {
  if (usd === null) return none;
  return usd === 0 || usd >= 0.1 ? usd.toFixed(2) : String(Number(usd.toPrecision(3)));
}
