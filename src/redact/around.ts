/**
 * The second look of the first pass: where the window of an anchor stands, some signs around it tell most often that nothing
 * looked for can. That is a comparison or a few, where asking a row of the table takes ten times as long.
 */
import { BEYOND, choiceOf, KIND_SIZE, type Kind } from "./pattern.ts";

/** No sign as far from a window's end as this is looked at. */
export const REACH = 128;
/** How many signs are looked at, and how many of them are the anchor's own where others are known. */
export const LOOKS = 4;
const OF_ANCHOR = 2;

/** A look is stored in one number: above `KIND_SHIFT` where its kind begins in `signs`, below it where the sign stands, from `REACH` before the window's end on. */
export const KIND_SHIFT = 8;
export const PLACE_MASK = 2 * REACH - 1;
/** Any sign, where the window ends. */
export const ANY = (0 << KIND_SHIFT) + REACH;
export const NO_LOOKS: readonly number[] = Array.from({ length: LOOKS }, () => ANY);

/** What may stand around a window. */
interface Context {
  /** What may stand at each place, as far as that is known. */
  readonly kinds: readonly (Kind | undefined)[];
  /** At which of the places the window ends, and how many it has. */
  readonly end: number;
  readonly width: number;
  /** From where up to where the anchor stands. */
  readonly from: number;
  readonly to: number;
}

export class Around {
  /** All kinds, one behind the other; the first is any sign. */
  signs = new Uint8Array(KIND_SIZE).fill(1);
  readonly #begins = new Map<Kind, number>();

  /** @returns `LOOKS` of them, the likeliest to refuse first */
  looks(context: Context): number[] {
    const looks = placesOf(context).map((place) => {
      const begin = this.#beginOf(context.kinds[place] as Kind);
      return (begin << KIND_SHIFT) + place - context.end + REACH;
    });
    return NO_LOOKS.map((none, i) => looks[i] ?? none);
  }

  #beginOf(kind: Kind): number {
    const known = this.#begins.get(kind);
    if (known !== undefined) return known;
    const begin = this.signs.length;
    const signs = new Uint8Array(begin + KIND_SIZE);
    signs.set(this.signs);
    signs.set(kind, begin);
    this.signs = signs;
    this.#begins.set(kind, begin);
    return begin;
  }
}

/** The places to look at: of the anchor those furthest from the window, of the rest those that leave the least choice. */
function placesOf({ kinds, end, width, from, to }: Context): number[] {
  const distinct = [...kinds.keys()].filter((place) => {
    const isInWindow = place > end - width && place <= end;
    // Bytes are the low ones of code units: what may stand beyond them cannot be told apart.
    return !isInWindow && Math.abs(place - end) < REACH && kinds[place]?.[BEYOND] === 0;
  });
  const choice = (place: number) => choiceOf(kinds[place] as Kind);
  const distance = (place: number) => Math.abs(place - end);
  const isOfAnchor = (place: number) => place >= from && place < to;
  const ofAnchor = distinct.filter(isOfAnchor).toSorted((a, b) => choice(a) - choice(b) || distance(b) - distance(a));
  const rest = distinct
    .filter((place) => !isOfAnchor(place))
    .toSorted((a, b) => choice(a) - choice(b) || distance(a) - distance(b));
  const apart: number[] = [];
  for (const alike of Map.groupBy(rest, choice).values())
    apart.push(...spread(alike, Math.max(LOOKS - ofAnchor.length, LOOKS - OF_ANCHOR) - apart.length));
  return [...ofAnchor.slice(0, LOOKS - apart.length), ...apart];
}

/** Rows of marks repeat after some signs, and what ends a mark stands mostly at a multiple of that. */
const STRIDES = [23, 19, 0, 11];

/** So many of the places, far from one another. */
function spread(places: readonly number[], count: number): readonly number[] {
  if (places.length <= count) return places;
  const chosen = new Set<number>();
  for (const stride of STRIDES.slice(0, count)) {
    let index = stride % places.length;
    while (chosen.has(places[index] as number)) index = (index + Math.ceil(places.length / count)) % places.length;
    chosen.add(places[index] as number);
  }
  return [...chosen];
}
