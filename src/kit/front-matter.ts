/** Lines of YAML front matter at the start of a file, its fences included; 0 when there is none. */
export function frontMatterLines(lines: readonly string[]): number {
  if (lines[0]?.trimEnd() !== "---") return 0;
  const end = lines.findIndex((line, i) => i > 0 && /^(?:---|\.\.\.)[ \t]*$/.test(line));
  return end + 1;
}
