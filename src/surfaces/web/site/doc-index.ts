import { slot } from "../../../core.ts";
import { readAsset } from "../../../kit/assets.ts";
import { DOCS } from "./docs-list.ts";

/** A document as somebody looks for it. */
export interface DocEntry {
  readonly title: string;
  readonly summary: string;
  readonly path: `/${string}`;
}

/** All documents, by their level-1 headings; read once an instance and not rendered for it. */
export const docIndex = slot((): readonly DocEntry[] =>
  DOCS.map(({ slug, file, summary }) => ({
    title: /^# (.+)/.exec(readAsset(`docs/${file}`))?.[1] ?? slug,
    summary,
    path: `/docs/${slug}`,
  })),
);
