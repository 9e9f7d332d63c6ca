/**
 * Metrics: figures for Prometheus, declared by the rooms that know them, on a listener of their own so that a proxy never
 * publishes them.
 * Not here: what the figures count; whether the service is well (health).
 */
import { type Core, slot } from "../../core.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import { cooperative } from "../../kit/yield.ts";

/** One metric, with all its series, in the text exposition format of Prometheus (0.0.4). */
export interface Metric {
  readonly name: string;
  /** Its lines at this moment, without line ends. */
  lines(core: Core): string[] | Promise<string[]>;
}

/** A metric that is kept in memory, so that it needs no waiting. */
interface Counted extends Metric {
  lines(core: Core): string[];
}

/** Labels with values that the program itself declares, never ones that were sent: nobody else decides how many series there are. */
type Labels = Readonly<Record<string, string | number>>;

/** The current value of a figure: a number, one for each of a few labels, or undefined when unknown. */
export type Reading = number | undefined | readonly (readonly [labels: Labels, value: number])[];

const declared = (type: string, name: string, help: string) => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };
const escaped = (text: string | number) => String(text).replace(/[\\"\n]/g, (char) => ESCAPES[char] ?? "");
const series = (name: string, labels: Labels, value: number) =>
  `${name}{${Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)}} ${value}`;

/** A figure that is kept elsewhere and read when it is asked for. */
export function figure(
  type: "counter" | "gauge",
  name: string,
  help: string,
  read: (core: Core) => Reading | Promise<Reading>,
): Metric {
  return {
    name,
    async lines(core) {
      const reading = await read(core);
      const lines = typeof reading === "number" ? [`${name} ${reading}`] : reading?.map((one) => series(name, ...one));
      return [...declared(type, name, help), ...(lines ?? [])];
    },
  };
}

/** How long a survey's result is used, however often it is asked for. */
const SURVEY_MS = MINUTE_MS;

/**
 * A survey of the record that several figures share: made when one of them is asked for, and kept for a minute. One that fails is made
 * again.
 * @param look lets others in between its steps (kit/yield.ts)
 */
export function survey<Seen>(look: (core: Core) => Seen | Promise<Seen>): (core: Core) => Promise<Seen> {
  const last = slot(() => ({ at: 0, seen: undefined as Promise<Seen> | undefined }));
  return (core) => {
    const state = last(core);
    if (state.seen && core.clock.monotonic() - state.at < SURVEY_MS) return state.seen;
    // Everybody who asks meanwhile waits for the same survey, however long it takes.
    state.at = Number.POSITIVE_INFINITY;
    state.seen = (async () => look(core))();
    state.seen.then(
      () => {
        state.at = core.clock.monotonic();
      },
      () => {
        state.seen = undefined;
      },
    );
    return state.seen;
  };
}

/**
 * A survey that sums parts of a table, letting others in between.
 * @param first the first part begins after it
 * @param read a bounded part; its `last` is what the next part begins after, null after the last
 */
export function sumOfParts<K, Names extends string>(
  first: K,
  names: readonly Names[],
  read: (core: Core, after: K) => (Readonly<Record<Names, number>> & { readonly last: K | null }) | undefined,
): (core: Core) => Promise<Record<Names, number>> {
  return survey(async (core) => {
    const yieldNow = cooperative(core.clock);
    const sums = Object.fromEntries(names.map((name) => [name, 0])) as Record<Names, number>;
    for (let after = first; ; await yieldNow()) {
      const part = read(core, after);
      if (!part || part.last === null) return sums;
      for (const name of names) sums[name] += part[name];
      after = part.last;
    }
  });
}

/** Counts events by labels; series stand together by their first label. */
export function counter(
  name: string,
  help: string,
): Counted & { count(core: Core, labels: Labels, times?: number): void } {
  const counted = slot(() => new Map<string, { readonly labels: Labels; value: number }>());
  return {
    name,
    count(core, labels, times = 1) {
      const key = Object.values(labels).join("\n");
      counted(core).getOrInsertComputed(key, () => ({ labels, value: 0 })).value += times;
    },
    lines(core) {
      const groups = Map.groupBy(counted(core).values(), ({ labels }) => Object.values(labels)[0]);
      const lines = [...groups.values()].flat().map(({ labels, value }) => series(name, labels, value));
      return [...declared("counter", name, help), ...lines];
    },
  };
}

/** Counts measured values in buckets, by labels. @param bounds upper bounds, ascending */
export function histogram(
  name: string,
  help: string,
  bounds: readonly number[],
): Counted & { observe(core: Core, labels: Labels, value: number): void } {
  const make = (labels: Labels) => ({ labels, count: 0, sum: 0, buckets: bounds.map(() => 0) });
  const observed = slot(() => new Map<string, ReturnType<typeof make>>());
  return {
    name,
    observe(core, labels, value) {
      const key = Object.values(labels).join("\n");
      const spread = observed(core).getOrInsertComputed(key, () => make(labels));
      spread.count++;
      spread.sum += value;
      // Each bucket counts those below it, too.
      bounds.forEach((bound, i) => {
        if (value <= bound) spread.buckets[i] = (spread.buckets[i] ?? 0) + 1;
      });
    },
    lines: (core) => [
      ...declared("histogram", name, help),
      ...[...observed(core).values()].flatMap(({ labels, count, sum, buckets }) => [
        ...bounds.map((le, i) => series(`${name}_bucket`, { ...labels, le }, buckets[i] ?? 0)),
        series(`${name}_bucket`, { ...labels, le: "+Inf" }, count),
        series(`${name}_sum`, labels, sum),
        series(`${name}_count`, labels, count),
      ]),
    ],
  };
}
