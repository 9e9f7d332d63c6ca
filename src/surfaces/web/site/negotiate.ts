import Negotiator from "negotiator";

const HTML = "text/html";
const MARKDOWN = "text/markdown";
/** Parameters of text types (RFC 7763 section 3) say nothing of which rendition is wanted; any charset asked for gets UTF-8. */
const PARAMETERS = /;\s*(?:charset|variant)\s*=\s*(?:"[^"]*"|[^\s;,]*)/gi;

/**
 * Whether a reader would rather have markdown than HTML (RFC 9110 section 12.5.1): the higher quality value wins, each type
 * taking that of the most specific range that covers it, and 0 refuses. Of equal ones the type that is named wins over one that
 * only a wildcard covers, then the one named first: agents name markdown and add the rest as a fallback, browsers never name it.
 * Whoever takes neither gets HTML.
 */
export function prefersMarkdown(accept: string | null): boolean {
  if (accept === null) return false;
  const negotiator = new Negotiator({ headers: { accept: accept.replace(PARAMETERS, "") } });
  return negotiator.mediaTypes([HTML, MARKDOWN])[0] === MARKDOWN;
}
