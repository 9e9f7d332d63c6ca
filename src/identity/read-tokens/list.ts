import type { Core } from "../../core.ts";
import { type Read, rows } from "./rows.ts";

const DEFAULT_PAGE = 50;
const MAX_PAGE = 200;

export interface ReadFilter {
  /** One of the person's tokens; all of them when left out. */
  readonly tokenId?: string | undefined;
  /** Only what is older than this read. */
  readonly beforeId?: number | undefined;
  /** Rows of the page; 50 by default, 200 at most. */
  readonly limit?: number | undefined;
}

export interface ReadPage {
  readonly rows: readonly Read[];
  /** What to ask before for the next page; undefined when this is the last. */
  readonly older: number | undefined;
}

/** What a person's read tokens were used for, newest first. */
export function listReads(core: Core, userId: string, filter: ReadFilter = {}): ReadPage {
  const { tokenId, beforeId = Number.MAX_SAFE_INTEGER, limit = DEFAULT_PAGE } = filter;
  const most = Math.min(Math.max(1, Math.trunc(limit)), MAX_PAGE);
  const found =
    tokenId === undefined
      ? rows(core.store).reads.all(userId, beforeId, most + 1)
      : rows(core.store).readsOfToken.all(tokenId, userId, beforeId, most + 1);
  const page = found.slice(0, most);
  return { rows: page, older: found.length > most ? page.at(-1)?.id : undefined };
}

export type { Read };
