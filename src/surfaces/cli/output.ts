import { styleText } from "node:util";
import type { Command } from "commander";
import { systemClock } from "../../kit/clock.ts";
import type { Steps } from "../../kit/steps.ts";
import { cooperative } from "../../kit/yield.ts";
import { endSteps, processSteps } from "./progress.ts";

/** What a command prints on: the process's own streams, or those of somebody who runs it from elsewhere. */
export interface Io {
  /** Results. */
  out(text: string): void;
  /** Prints a part of a long result. Await it before the next part, since the reader may be slower. */
  piece(text: string): Promise<void>;
  /** Everything else. */
  err(text: string): void;
  /** Whether results are read by a person, on a terminal. */
  readonly isTerminal: boolean;
  /** Shows the progress of long work, until something is printed. */
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

/** The option that every command with a result takes. */
export const withJson = (command: Command): Command =>
  command.option("--json", "print the result as one JSON document", false);

/** Where a command's results go: stdout for results, stderr for everything else. */
export interface Output {
  readonly json: boolean;
  /** Prints the result: one JSON document with `--json`, else the text of `plain`. */
  result(value: unknown, plain: () => string | Table): void;
  /** Prints a list of any length, in pieces. Others get their turn between them, and no piece is larger than may be sent. */
  list<T>(items: Iterable<T>, listing: Listing<T>): Promise<void>;
  /** A remark for a person; never part of the result. */
  note(text: string): void;
  /** The command line of another command in the same place. @param words from the command on */
  reckon(words: string): string;
  /** Shows the progress of long work: on a terminal from the first second on, elsewhere now and then. */
  readonly steps: Steps;
}

type Cell = string | number | null;

/** How a list is shown. */
export interface Listing<T> {
  /** An item as `--json` prints it. */
  readonly json: (item: T) => unknown;
  readonly headings: readonly string[];
  readonly cells: (item: T) => readonly Cell[];
  /** What a person reads where the list is empty. */
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

/** The reply of a command that ends something by its id, which may have ended before. */
export const revokedText = (id: string, changed: boolean): string =>
  `${id} ${changed ? "is revoked" : "was revoked before"}`;

/** Most printed texts match it, and need no further look. */
const PLAIN = /^[ -~]*$/;

/** Replaces control characters, which could act on a terminal, and signs of direction, which make one name look like another. */
export const printable = (text: string) =>
  PLAIN.test(text) ? text : text.replace(/[\p{Cc}\u2028\u2029]|(?![\u200c\u200d])\p{Cf}/gu, "?");

/** The same for several lines, such as remarks and errors, which quote files and servers. */
export const printableLines = (text: string) => text.replace(/[^\n\t]+/g, printable);

/** Sequences that change a terminal's colours and nothing else (ECMA-48 section 8.3.117). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const COLOURS = /(\u001b\[[\d;]*m)/;

/** Output of a server elsewhere: its colours stay, and whatever else could act on a terminal is replaced. */
export const printableWithColours = (text: string) =>
  text
    .split(COLOURS)
    .map((part, i) => (i % 2 === 1 ? part : printableLines(part)))
    .join("");

/** The list as JSON, in pieces; together they are what `JSON.stringify` makes of the whole list. */
function* jsonOf<T>(items: Iterable<T>, asJson: (item: T) => unknown): Generator<string> {
  let before = "[";
  for (const item of items) {
    yield `${before}\n  ${JSON.stringify(asJson(item), null, 2).replaceAll("\n", "\n  ")}`;
    before = ",";
  }
  yield before === "[" ? "[]\n" : "\n]\n";
}

const shownCell = (cell: Cell) => printable(cell === null ? "-" : String(cell));

/**
 * Lines for a person: aligned under a heading on a terminal, tab-separated in a pipe. On a terminal it yields empty texts while it reads,
 * because the widths are known only at the end.
 */
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

/** The facts of one thing, one a line. */
export function facts(rows: readonly (readonly [string, string | number | null])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows
    .map(([name, value]) => `${name.padEnd(width)}  ${value === null ? "-" : printable(String(value))}`)
    .join("\n");
}

/** An amount to the cent, below ten cents to three digits. @param none what stands for an unknown sum */
export function dollars(usd: number | null, none: string): string {
  if (usd === null) return none;
  return usd === 0 || usd >= 0.1 ? usd.toFixed(2) : String(Number(usd.toPrecision(3)));
}
