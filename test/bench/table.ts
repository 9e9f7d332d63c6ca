/** What a scenario found, and how it is shown. */

/** A figure with its aim. */
export interface Result {
  readonly scenario: string;
  readonly unit: string;
  /** One number a round. */
  readonly ours: readonly number[];
  /** The floor's number of the same round; absent where the aim is absolute. */
  readonly floor?: readonly number[];
  readonly aim: Aim;
}

/** A bound on the median: of ours over the floor's, or of ours where there is no floor. */
type Aim = { readonly atLeast: number } | { readonly below: number };

/** Something worth knowing beside the figures with aims. */
export interface Note {
  readonly scenario: string;
  readonly says: string;
}

/** What a scenario tells as it goes; the run collects it. */
export interface Report {
  result(result: Result): void;
  note(scenario: string, says: string): void;
}

export interface Judged extends Result {
  /** Median, least and most of what the aim is about. */
  readonly judged: Spread;
  readonly met: boolean;
}

interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** The value below which a share of sorted values lies (nearest rank). */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

const spread = (values: readonly number[]): Spread => ({
  median: median(values),
  least: Math.min(...values),
  most: Math.max(...values),
});

export function judge(result: Result): Judged {
  const { ours, floor, aim } = result;
  // Judged round by round: what slows the machine for a while slows both of a pair.
  const judged = spread(floor ? ours.map((one, i) => one / (floor[i] as number)) : ours);
  const met = "atLeast" in aim ? judged.median >= aim.atLeast : judged.median < aim.below;
  return { ...result, judged, met };
}

export function figure(value: number): string {
  if (Math.abs(value) >= 1000) return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, " ");
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}

export function render(results: readonly Judged[], notes: readonly Note[]): string {
  const rows = results.map(({ scenario, unit, ours, floor, judged, aim, met }) => [
    scenario,
    `${figure(median(ours))} ${unit}`,
    floor ? `${figure(median(floor))} ${unit}` : "",
    `${floor ? "×" : ""}${figure(judged.median)} [${figure(judged.least)}–${figure(judged.most)}]`,
    "atLeast" in aim ? `≥ ${aim.atLeast}` : `< ${aim.below}`,
    met ? "met" : "MISSED",
  ]);
  const all = [["scenario", "ours", "floor", "median [least–most]", "aim", ""], ...rows];
  return [columns(all), "", ...notes.map(({ scenario, says }) => `${scenario}: ${says}`)].join("\n");
}

/** Rows in columns, the first of them a head. */
export function columns(all: readonly (readonly string[])[]): string {
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => (row[column] as string).length))) ?? [];
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] as number))
      .join("  ")
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((width) => "-".repeat(width)).join("  "));
  return lines.join("\n");
}
