import type { Core } from "../../core.ts";
import type { PackEntry } from "./entry.ts";
import { publishedPacks } from "./list.ts";

const PER_SECTION = 12;
const PER_STACK = 6;
const MAX_STACKS = 20;

/** What there is to discover; sections are empty, never absent. */
export interface Explored {
  /** Chosen by the operators, by rank. */
  readonly featured: readonly PackEntry[];
  /** Most devices in fourteen days, ties by rank. */
  readonly trending: readonly PackEntry[];
  /** Newest first. */
  readonly new: readonly PackEntry[];
  /** Tag to its packs by rank; the tags with most packs first. */
  readonly byStack: Readonly<Record<string, readonly PackEntry[]>>;
}

/** Puts the published packs into sections. @throws when the store cannot be read; the endpoint and pages degrade */
export function explore(core: Core): Explored {
  return sectionsOf(publishedPacks(core));
}

/** @param packs best first */
export function sectionsOf(packs: readonly PackEntry[]): Explored {
  const stacks = new Map<string, PackEntry[]>();
  for (const pack of packs) for (const tag of pack.tags) stacks.getOrInsert(tag, []).push(pack);
  const largest = [...stacks].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1)).slice(0, MAX_STACKS);
  return {
    featured: packs.filter(({ featured }) => featured).slice(0, PER_SECTION),
    trending: packs
      .filter(({ recentInstalls }) => recentInstalls > 0)
      .sort((a, b) => b.recentInstalls - a.recentInstalls)
      .slice(0, PER_SECTION),
    new: packs.toSorted((a, b) => b.createdAt - a.createdAt).slice(0, PER_SECTION),
    byStack: Object.fromEntries(largest.map(([tag, stack]) => [tag, stack.slice(0, PER_STACK)])),
  };
}
