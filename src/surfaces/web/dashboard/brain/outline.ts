import { type Html, trustedHtml } from "../../../../kit/html.ts";
import { type Heading, renderWithHeadings } from "../../../../kit/markdown-html.ts";

/**
 * Renders a file with its headings.
 * @param line 1-based; the section that holds it gets an anchor `L<line>` before its heading
 * @param notes what stands below headings, by their line
 */
export function outlined(
  content: string,
  line: number | undefined,
  notes: ReadonlyMap<number, Html> = new Map(),
): { rendered: Html; headings: readonly Heading[] } {
  const anchor = line === undefined ? "" : `<span id="L${line}"></span>`;
  let section: number | undefined;
  const { html, headings } = renderWithHeadings(content, (lines) => {
    section = lines.findLast((at) => at <= (line ?? 0));
    return (at) => ({ before: at === section ? anchor : "", after: notes.get(at)?.toString() });
  });
  // A line before the first heading is found at the top.
  return { rendered: trustedHtml(section === undefined ? anchor + html : html), headings };
}
