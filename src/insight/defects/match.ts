import type { Entry } from "../../formats/errors/entry.ts";
import { fold } from "../../formats/errors/fingerprint.ts";
import type { DefectRow } from "./rows.ts";

/** Which row each entry goes on with; entries without one are new, rows without one are gone. */
export type Matches = Map<Entry, DefectRow>;

/** A row or an entry, with what the two are compared by. */
interface Known<T extends DefectRow | Entry = DefectRow | Entry> {
  readonly item: T;
  /** The title folded, which is seldom asked for; "" tells nothing. */
  readonly name: () => string;
  readonly fingerprint: string;
  /** What the text names, as JSON; "" for nothing. */
  readonly names: string;
}

type KeyOf = (known: Known) => string | undefined;

const keyOf = (...parts: readonly string[]) => parts.join("\n");
const exactly: KeyOf = ({ item, fingerprint, names }) => keyOf(item.heading, fingerprint, names);
const byBoth: KeyOf = ({ item, name, fingerprint }) => keyOf(item.date, name(), fingerprint);
const byName: KeyOf = ({ item, name }) => (name() === "" ? undefined : keyOf(item.date, name()));
const byFingerprint: KeyOf = ({ item, fingerprint }) => keyOf(item.date, fingerprint);
const byNames: KeyOf = ({ item, name, names }) => (names === "" ? undefined : keyOf(item.date, name(), names));

/**
 * Finds out which entries of a file are those that were read of it before, as what people say of an entry and the address of
 * its page go with it. It is the same entry with
 * 1. the same heading, fingerprint and named commits and files, wherever in the file it stands now;
 * 2. the same date, title and fingerprint: its marks have changed, or its text;
 * 3. the same date and title, where that is the only one before and after: its rule has changed. Titles are compared without
 *    marks, punctuation and case; entries without any by the commits and files that they name;
 * 4. the same date and fingerprint, where that is the only one before and after: its title has changed.
 * Of several that nothing tells apart, those with the same place among equal headings are the same, then those nearest to the
 * file's end. Everything else is not: rather lose sight of an entry than take another for it.
 */
export function matchEntries(rows: readonly DefectRow[], entries: readonly Entry[]): Matches {
  const matching = begin(rows, entries);
  matching.pairAll(exactly);
  matching.pairAll(byBoth);
  for (const key of [byName, byNames, byFingerprint]) matching.pairSingle(key);
  return matching.matches;
}

/**
 * Finds entries again that stood in another file, which is gone.
 * @param strays rows of files that are gone
 * @param entries of a file; those that `known` has are taken
 */
export function matchMoved(strays: readonly DefectRow[], entries: readonly Entry[], known: Matches): Matches {
  const left = entries.filter((entry) => !known.has(entry));
  if (strays.length === 0 || left.length === 0) return new Map();
  const matching = begin(strays, left);
  if (new Set(strays.map(({ path }) => path)).size === 1) matching.pairAll(byBoth);
  for (const key of [byBoth, byName, byFingerprint]) matching.pairSingle(key);
  return matching.matches;
}

function begin(rows: readonly DefectRow[], entries: readonly Entry[]) {
  const allRows = rows.map((row) => known(row, row.commits, row.files));
  const allEntries = entries.map((entry) => known(entry, JSON.stringify(entry.commits), JSON.stringify(entry.files)));
  const rowsLeft = new Set(allRows);
  const matches: Matches = new Map();
  const pair = (before: Known<DefectRow>, after: Known<Entry>) => {
    matches.set(after.item, before.item);
    rowsLeft.delete(before);
  };
  const entriesLeft = () => allEntries.filter(({ item }) => !matches.has(item));
  return {
    matches,
    /** Pairs all that have the same key, as many as there are on both sides. */
    pairAll(key: KeyOf) {
      if (rowsLeft.size === 0) return;
      const before = Map.groupBy(rowsLeft, key);
      for (const [text, after] of Map.groupBy(entriesLeft(), key))
        for (const [row, entry] of inPairs(before.get(text) ?? [], after)) pair(row, entry);
    },
    /** Pairs what alone has its key, also among those that are paired already. */
    pairSingle(key: KeyOf) {
      if (rowsLeft.size === 0 || matches.size === allEntries.length) return;
      // Folding the titles of thousands of entries would keep others waiting: none is the same as one of another day.
      const days = new Set(Array.from(rowsLeft, ({ item }) => item.date));
      const ofDays = <T extends Known>(some: readonly T[]) => some.filter(({ item }) => days.has(item.date));
      const before = Map.groupBy(ofDays(allRows), key);
      for (const [text, after] of Map.groupBy(ofDays(allEntries), key)) {
        const [row, entry] = [before.get(text)?.[0], after[0]];
        if (text === undefined || !row || !entry || before.get(text)?.length !== 1 || after.length !== 1) continue;
        if (rowsLeft.has(row) && !matches.has(entry.item)) pair(row, entry);
      }
    },
  };
}

function inPairs(
  rows: readonly Known<DefectRow>[],
  entries: readonly Known<Entry>[],
): [Known<DefectRow>, Known<Entry>][] {
  const places = new Map(rows.map((row) => [placeOf(row), row]));
  const pairs: [Known<DefectRow>, Known<Entry>][] = [];
  const others = entries.filter((entry) => {
    const row = places.get(placeOf(entry));
    if (row) pairs.push([row, entry]);
    return !row;
  });
  const paired = new Set(pairs.map(([row]) => row));
  const fromEnd = (a: Known, b: Known) => b.item.line - a.item.line;
  const left = rows.filter((row) => !paired.has(row)).toSorted(fromEnd);
  for (const [i, entry] of others.toSorted(fromEnd).entries()) {
    const row = left[i];
    if (row) pairs.push([row, entry]);
  }
  return pairs;
}

const placeOf = ({ item }: Known) => `${item.ordinal} ${item.heading}`;

function known<T extends DefectRow | Entry>(item: T, commits: string, files: string): Known<T> {
  let folded: string | undefined;
  return {
    item,
    name: () => {
      folded ??= fold(item.title);
      return folded;
    },
    fingerprint: item.fingerprint.toString("latin1"),
    names: commits === "[]" && files === "[]" ? "" : `${commits}${files}`,
  };
}
