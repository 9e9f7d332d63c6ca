import type { Core } from "../../../core.ts";
import { listPacks } from "../../../share/packs/packs.ts";
import { latestRelease } from "../../../share/releases/releases.ts";
import { apiReference } from "./api-model.ts";
import { docEntry } from "./doc-text.ts";
import { DOC_GROUPS } from "./docs-list.ts";
import { escapeMarkdown } from "./markdown.ts";

/** A public page, as the indexes for agents and search engines list it. */
export interface IndexedPage {
  readonly path: string;
  /** Markdown. */
  readonly title: string;
  /** Markdown, one line. */
  readonly summary: string;
}

export interface PageIndex {
  readonly groups: readonly { readonly title: string; readonly pages: readonly IndexedPage[] }[];
  /** Packs up to a thousand, best first; undefined while they cannot be read. */
  readonly packs: readonly IndexedPage[] | undefined;
}

export const DOWNLOAD_PATH = "/download";

/** Whether an installer can be had here: without one, nothing leads to that page. */
export function hasDownload(core: Core): boolean {
  try {
    return latestRelease(core, "win32") !== undefined;
  } catch (error) {
    core.log.error("releases_not_listed", { cause: String(error) });
    return false;
  }
}

/** The pages of packs. The other pages are there without them. */
function packPages(core: Core): readonly IndexedPage[] | undefined {
  try {
    return listPacks(core).entries.map(({ name, title, summary }) => ({
      path: `/marketplace/${name}`,
      title: escapeMarkdown(title),
      summary: escapeMarkdown(summary),
    }));
  } catch (error) {
    core.log.error("packs_not_listed", { cause: String(error) });
    return undefined;
  }
}

/** Every public page, in groups; those of packs by themselves. */
export const pageIndex = (core: Core): PageIndex => ({ groups: groupsOf(core), packs: packPages(core) });

function groupsOf(core: Core): PageIndex["groups"] {
  return [
    {
      title: "Start",
      pages: [
        { path: "/", title: "Reckon", summary: "What this installation is, and how a machine is connected to it." },
        { path: "/docs", title: "Documentation", summary: "The list of all documents." },
        ...(hasDownload(core)
          ? [
              {
                path: DOWNLOAD_PATH,
                title: "Download",
                summary: "The newest desktop installer with its checksum, and older ones.",
              },
            ]
          : []),
      ],
    },
    ...DOC_GROUPS.map(({ title, docs }) => ({
      title,
      pages: docs.map(docEntry),
    })),
    {
      title: "API reference",
      pages: [
        {
          path: "/docs/api",
          title: "API reference",
          summary: "Base URL, rules, credentials, error shapes, rate limits, and the list of operations.",
        },
        ...apiReference(core).operations.map(({ id, method, path, summary }) => ({
          path: `/docs/api/${id}`,
          title: `${method} ${path}`,
          summary: `${summary}.`,
        })),
      ],
    },
    {
      title: "Marketplace",
      pages: [
        { path: "/marketplace", title: "Marketplace", summary: "Brain packs that teams published, ranked by trust." },
        { path: "/explore", title: "Explore", summary: "Featured, trending and new packs, and packs by stack." },
      ],
    },
  ];
}
