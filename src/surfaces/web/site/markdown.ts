/** Writing markdown. What people or agents wrote is escaped here, as `html` does for pages. */

/** Text that stands for itself in markdown, on one line. */
export function escapeMarkdown(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .replace(/[\\`*_{}[\]<>#|~&]/g, "\\$&")
    .replace(/^(\s*)([-+]|\d+[.)])(?=\s)/, "$1\\$2");
}

export const bullets = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");

/** A table; cells are markdown already. */
export function markdownTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replace(/(?<!\\)\|/g, "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(headings), `|${headings.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** A fenced block; the fence is longer than any run of backticks inside. */
export function fence(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const mark = "`".repeat(longest + 1);
  return `${mark}${language}\n${text.trimEnd()}\n${mark}`;
}
