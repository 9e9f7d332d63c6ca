import { styleText } from "node:util";

/** Where a command's results go: stdout for results, stderr for everything else. */
export interface Output {
  readonly json: boolean;
  /** Prints the result: one JSON document with `--json`, else what `plain` gives. */
  result(value: unknown, plain: () => string): void;
  /** A remark for a person; never part of the result. */
  note(text: string): void;
  /** Shows how far long work is, on a terminal and from the first second on. */
  progress(label: string): (share: number) => void;
}

const BAR_CHARS = 30;
const SHOW_AFTER_MS = 1_000;

export function createOutput(json: boolean): Output {
  return {
    json,
    result(value, plain) {
      const text = json ? JSON.stringify(value, null, 2) : plain();
      if (text !== "") process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
    },
    note: (text) => void process.stderr.write(`${text}\n`),
    progress(label) {
      if (!process.stderr.isTTY) return () => {};
      const started = performance.now();
      let shown = false;
      return (share) => {
        if (!shown && performance.now() - started < SHOW_AFTER_MS) return;
        shown = true;
        const filled = Math.round(share * BAR_CHARS);
        process.stderr.write(
          `\r${label} ${"█".repeat(filled)}${"░".repeat(BAR_CHARS - filled)} ${Math.round(share * 100)} %${share >= 1 ? "\n" : ""}`,
        );
      };
    },
  };
}

/** Control characters in what agents named things would act on a terminal. */
const printable = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]/gu, "?");

/** Rows for a person: aligned under a heading on a terminal, tab-separated lines in a pipe. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
  empty: string,
): string {
  const cells = rows.map((row) => row.map((cell) => printable(cell === null ? "-" : String(cell))));
  if (!process.stdout.isTTY) return cells.map((row) => row.join("\t")).join("\n");
  if (cells.length === 0) return empty;
  const widths = headings.map((heading, i) => Math.max(heading.length, ...cells.map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd();
  return [styleText("bold", line(headings)), ...cells.map(line)].join("\n");
}

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
