const GROUPED = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 2 });
const COMPACT = new Intl.NumberFormat("en-GB", { notation: "compact", maximumFractionDigits: 1 });
const BYTE_UNITS = ["B", "KB", "MB", "GB", "TB"];

/** A number with grouped thousands, e.g. `12,345`. */
export function number(value: number): string {
  return GROUPED.format(value);
}

/** A number for where room is short: `12.3k`, `11.9M`, `2B`. SI has a small k and a capital M; the locale's own m is a metre. */
export function compact(value: number): string {
  return COMPACT.format(value).replace(/[a-z]+$/, (unit) => (unit === "k" ? unit : unit.charAt(0).toUpperCase()));
}

/** A number and its noun: `1 device`, `2 devices`, `3 entries` (with the plural handed in). */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** A size in decimal units, e.g. `1.5 MB`. */
export function bytes(value: number): string {
  let unit = 0;
  let size = Math.max(0, value);
  while (size >= 999.5 && unit < BYTE_UNITS.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${size >= 100 || unit === 0 ? Math.round(size) : Number(size.toFixed(1))} ${BYTE_UNITS[unit]}`;
}

/** A span of time in at most two units: `340 ms`, `4.2 s`, `3 min 5 s`, `2 h 5 min`, `6 d 1 h`. */
export function duration(ms: number): string {
  const span = Math.max(0, ms);
  if (span < 999.5) return `${Math.round(span)} ms`;
  if (span < 59_950) return `${Number((span / 1_000).toFixed(1))} s`;
  const seconds = Math.round(span / 1_000);
  if (seconds < 3_600) return two(Math.floor(seconds / 60), "min", seconds % 60, "s");
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return two(Math.floor(minutes / 60), "h", minutes % 60, "min");
  const hours = Math.round(minutes / 60);
  return two(Math.floor(hours / 24), "d", hours % 24, "h");
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${number(large)} ${largeUnit}` : `${number(large)} ${largeUnit} ${small} ${smallUnit}`;
}
