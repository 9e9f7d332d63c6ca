import { styleText } from "node:util";

/** What a command prints on: the process's own streams, or those of whoever runs it from elsewhere. */
export interface Io {
  /** Results. */
  out(text: string): void;
  /** Everything else. */
  err(text: string): void;
  /** Whether results are read by a person, on a terminal. */
  readonly isTerminal: boolean;
  /** Whether long work may draw how far it is. */
  readonly showsProgress: boolean;
}

export const PROCESS_IO: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  get isTerminal() {
    return process.stdout.isTTY;
  },
  get showsProgress() {
    return process.stderr.isTTY;
  },
};

/** Where a command's results go: stdout for results, stderr for everything else. */
export interface Output {
  readonly json: boolean;
  /** Prints the result: one JSON document with `--json`, else what `plain` gives. */
  result(value: unknown, plain: () => string | Table): void;
  /** A remark for a person; never part of the result. */
  note(text: string): void;
  /** Shows how far long work is, on a terminal and from the first second on. */
  progress(label: string): (share: number) => void;
}

const BAR_CHARS = 30;
const SHOW_AFTER_MS = 1_000;

export function createOutput(json: boolean, io: Io = PROCESS_IO): Output {
  return {
    json,
    result(value, plain) {
      const shown = json ? JSON.stringify(value, null, 2) : plain();
      const text = typeof shown === "string" ? shown : shown.render(io.isTerminal);
      if (text !== "") io.out(text.endsWith("\n") ? text : `${text}\n`);
    },
    note: (text) => io.err(`${printableLines(text)}\n`),
    progress(label) {
      if (!io.showsProgress) return () => {};
      const started = performance.now();
      let shown = false;
      return (share) => {
        if (!shown && performance.now() - started < SHOW_AFTER_MS) return;
        shown = true;
        const filled = Math.round(share * BAR_CHARS);
        io.err(
          `\r${label} ${"█".repeat(filled)}${"░".repeat(BAR_CHARS - filled)} ${Math.round(share * 100)} %${share >= 1 ? "\n" : ""}`,
        );
      };
    },
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

/** Rows for a person: aligned under a heading on a terminal, tab-separated lines in a pipe. */
class Table {
  readonly #headings: readonly string[];
  readonly #cells: readonly (readonly string[])[];
  readonly #empty: string;
  constructor(headings: readonly string[], cells: readonly (readonly string[])[], empty: string) {
    this.#headings = headings;
    this.#cells = cells;
    this.#empty = empty;
  }

  render(isTerminal: boolean): string {
    const cells = this.#cells;
    if (!isTerminal) return cells.map((row) => row.join("\t")).join("\n");
    if (cells.length === 0) return this.#empty;
    const widths = this.#headings.map((heading, i) =>
      Math.max(heading.length, ...cells.map((row) => row[i]?.length ?? 0)),
    );
    const line = (row: readonly string[]) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd();
    return [styleText("bold", line(this.#headings)), ...cells.map(line)].join("\n");
  }

  /** For this process's own output. */
  toString(): string {
    return this.render(PROCESS_IO.isTerminal);
  }
}

export type { Table };

/** Makes a table. @param empty what a person reads where there are no rows */
export const table = (
  headings: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
  empty: string,
): Table =>
  new Table(
    headings,
    rows.map((row) => row.map((cell) => printable(cell === null ? "-" : String(cell)))),
    empty,
  );

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
