import { type Core, slot } from "../../../core.ts";
import { readAsset } from "../../../kit/assets.ts";
import { baseUrlOf } from "../../../kit/base-url.ts";
import { type Heading, renderDocument } from "../../../kit/markdown-html.ts";
import { DOCS, type Doc, resolveDocLink } from "./docs-list.ts";

/** A document as this installation shows it. */
export interface DocText {
  /** Its level-1 heading. */
  readonly title: string;
  /** What stands below that heading. */
  readonly html: string;
  /** Level 2 and 3. */
  readonly headings: readonly Heading[];
  /** The whole as markdown, links absolute. */
  readonly markdown: string;
}

/** The address that documents name in their examples: that of a first start. */
const FIRST_START = "http://127.0.0.1:4870";

const texts = slot(() => new Map<string, DocText>());

/** Reads and renders a document; each once an instance. */
export function docText(core: Core, doc: Doc): DocText {
  const made = texts(core).get(doc.slug);
  if (made) return made;
  const base = baseUrlOf(core.config);
  const asWritten = readAsset(`docs/${doc.file}`);
  const source = named(doc.localized ? asWritten.replaceAll(FIRST_START, base) : asWritten);
  const rest = source.replace(/^# .+\n/, "");
  const subPath = new URL(base).pathname.replace(/\/$/, "");
  const below = (prefix: string) => (link: string) => {
    const path = resolveDocLink(doc.file, link);
    return path?.startsWith("/") ? prefix + path : path;
  };
  const { html, headings } = renderDocument(rest, below(subPath));
  const text = {
    title: docTitle(doc),
    html,
    headings: headings.filter(({ level }) => level === 2 || level === 3),
    markdown: absoluteLinks(source, below(base)),
  };
  texts(core).set(doc.slug, text);
  return text;
}

const titles = new Map<Doc, string>();

/** A document's level-1 heading. Lists name every document by it, and rendering them all takes a tenth of a second. */
export const docTitle = (doc: Doc): string =>
  titles.getOrInsertComputed(doc, () => /^# (.+)$/m.exec(readAsset(`docs/${doc.file}`))?.[1] ?? doc.slug);

/** A document as lists have it. */
export const docEntry = (doc: Doc) => ({
  path: `/docs/${doc.slug}` as const,
  title: docTitle(doc),
  summary: doc.summary,
});

/** All documents, in the order of their navigation. */
export const docIndex = () => DOCS.map(docEntry);

/** Links that are named after a file, as is usual in a repository, are named after the document that the file holds. */
function named(source: string): string {
  return source.replace(/\[([\w/-]+\.md)\](?=\()/g, (whole, file: string) => {
    const doc = DOCS.find((one) => one.file === file);
    return doc ? `[${docTitle(doc)}]` : whole;
  });
}

/** Rewrites the relative links of markdown, code blocks left alone. */
function absoluteLinks(source: string, resolve: (link: string) => string | undefined): string {
  return source
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part) =>
      part.startsWith("```")
        ? part
        : part.replace(/\]\(([^()\s]+)\)/g, (whole, link: string) => {
            const target = /^[a-z]+:/i.test(link) ? undefined : resolve(link);
            return target === undefined ? whole : `](${target})`;
          }),
    )
    .join("");
}
