import { bestOf, type Candidate, outranks } from "./count.ts";
import { namesOf } from "./model-names.ts";
import { type Figures, NOTHING, type Place, sameSession } from "./usage-record.ts";

/**
 * Telemetry and the trace tell of the same calls. Without the provider's id on both sides, a call is known again by its
 * session and its figures: here it is decided what of such tellings counts. What one side did not tell is taken from the other.
 */

/** A message that telemetry alone told in a session, or its spans alone: the other side may have told it without its id. */
export const TOLD_BY_ENTRIES = -1;
export const TOLD_BY_SPANS = -2;

/** Figures that stand in a place so many times, or are taken away from it. */
export interface Share {
  readonly place: Place;
  readonly figures: Figures;
  readonly times: number;
}

/**
 * What tellings without an id have to know of a message: in each session that told it on one side only, that it did. With the
 * place and figures by which it is counted, where that is in the same session.
 * @param counted the candidate that is counted
 */
export function witnessesOf(candidates: readonly Candidate[], counted: Candidate | undefined): Witness[] {
  const all: Witness[] = [];
  for (const [first, ...more] of bySession(candidates)) {
    const { session } = first?.place ?? { session: "" };
    if (!first || session === "") continue;
    const told = [first, ...more];
    const byEntries = told.some(({ source }) => source === 0);
    if (byEntries && told.some(({ source }) => source > 0)) continue;
    const { place, figures } = bestOf(told) as Candidate;
    const isHome = counted !== undefined && told.includes(counted);
    all.push({
      of: { place: place as Place, figures },
      source: byEntries ? TOLD_BY_ENTRIES : TOLD_BY_SPANS,
      place: isHome ? counted.place : null,
      times: 1,
      figures: isHome ? counted.figures : NOTHING,
    });
  }
  return all;
}

export interface Witness extends Candidate {
  /** Where it was told and how much, in that session. */
  readonly of: { readonly place: Place; readonly figures: Figures };
}

function bySession(candidates: readonly Candidate[]): Candidate[][] {
  const all: Candidate[][] = [];
  for (const one of candidates) {
    const same = all.find(([other]) => sameSession(other?.place as Place, one.place as Place));
    if (same) same.push(one);
    else all.push([one]);
  }
  return all;
}

/**
 * What counts of all that was told with equal figures in one session: what telemetry or its spans told without an id,
 * whichever told it more often, less the messages that the other side told.
 */
export function sharesOf(alike: readonly Candidate[]): Share[] {
  if (alike.every(({ source }) => source < 0)) return [];
  const lots = (wanted: (one: Candidate) => boolean) => alike.filter(wanted).sort(bestFirst).map(lotOf);
  const entries = lots(({ source }) => source === 0);
  const spans = lots(({ source }) => source > 0);
  const shares: Share[] = [];
  const asMessage = (message: Candidate, told: Candidate, times: number) => {
    const both = together(message, told);
    if (both === message) return;
    shares.push({ place: message.place as Place, figures: message.figures, times: -times });
    shares.push({ place: both.place as Place, figures: both.figures, times });
  };
  for (const [side, others] of [
    [TOLD_BY_SPANS, entries],
    [TOLD_BY_ENTRIES, spans],
  ] as const) {
    pairUp(
      lots(({ source, place }) => source === side && place !== null),
      others,
      asMessage,
    );
    // Counted in another session: only not a second time.
    zip(
      lots(({ source, place }) => source === side && place === null),
      others,
      () => {},
    );
  }
  const count = ({ place, figures }: Candidate, times: number) =>
    shares.push({ place: place as Place, figures, times });
  pairUp(entries, spans, (entry, span, times) => count(together(entry, span), times));
  for (const { told, left } of [...entries, ...spans]) if (left > 0) count(told, left);
  return shares;
}

/** Tellings that are one row, and how many of them still belong to nothing. */
interface Lot {
  readonly told: Candidate;
  readonly model: string;
  left: number;
}

/** A model is the same with the date of its release and without. */
const lotOf = (told: Candidate): Lot => ({
  told,
  model: namesOf(told.place?.model ?? "").at(-1) ?? "",
  left: told.times,
});

function bestFirst(a: Candidate, b: Candidate): number {
  if (a.place === null || b.place === null) return 0;
  return outranks(a, b) ? -1 : outranks(b, a) ? 1 : 0;
}

/** Pairs each with one of the others, those of the same model first, as far as there are any. */
function pairUp(
  some: readonly Lot[],
  others: readonly Lot[],
  pair: (one: Candidate, other: Candidate, times: number) => void,
): void {
  if (some.length === 0 || others.length === 0) return;
  const byModel = Map.groupBy(others, ({ model }) => model);
  for (const [model, same] of Map.groupBy(some, (lot) => lot.model)) zip(same, byModel.get(model) ?? [], pair);
  zip(some, others, pair);
}

function zip(some: readonly Lot[], others: readonly Lot[], pair: Parameters<typeof pairUp>[2]): void {
  for (let [i, k] = [0, 0]; ; ) {
    const [one, other] = [some[i], others[k]];
    if (!one || !other) return;
    const times = Math.min(one.left, other.left);
    if (times > 0) pair(one.told, other.told, times);
    one.left -= times;
    other.left -= times;
    if (one.left === 0) i++;
    if (other.left === 0) k++;
  }
}

/** One of two tellings of the same usage, with what only the other knows. Returns the first itself when the other adds nothing. */
function together(first: Candidate, second: Candidate): Candidate {
  const place = placeOfBoth(first.place as Place, second.place as Place);
  const figures = figuresOfBoth(first.figures, second.figures);
  return place === first.place && figures === first.figures ? first : { ...first, place, figures };
}

function placeOfBoth(own: Place, other: Place): Place {
  const [model, branch, repoKey] = [own.model || other.model, own.branch || other.branch, own.repoKey || other.repoKey];
  return model === own.model && branch === own.branch && repoKey === own.repoKey
    ? own
    : { ...own, model, branch, repoKey };
}

/** Equal figures, with how long it was written to the cache for and what it cost, where one of both told. */
function figuresOfBoth(own: Figures, other: Figures): Figures {
  const { cacheWrite, cacheWrite1h } = other.cacheWrite1h > own.cacheWrite1h ? other : own;
  const { reported, reportedNano } = own.reported > 0 ? own : other;
  return cacheWrite1h === own.cacheWrite1h && reported === own.reported
    ? own
    : { ...own, cacheWrite, cacheWrite1h, reported, reportedNano };
}
