import { DAY_MS, isoInstant } from "../../../../kit/clock.ts";
import type { EntryFilter } from "../../../../record/telemetry/telemetry.ts";

/** The filters of the telemetry pages, as they stand in the address. */
export interface Asked {
  readonly device: string;
  /** A repository's key, `NO_REPO` for what came without one, `""` for all. */
  readonly repo: string;
  readonly type: string;
  readonly text: string;
  readonly flagged: "" | "on";
  /** Days (UTC) as `2026-11-21`, both included; `""` for no bound. */
  readonly from: string;
  readonly to: string;
}

/** Stands for the empty key in an address, where an empty value means "all". */
export const NO_REPO = "(none)";
/** Keys are as long as a client may make them (identifiers of the API). */
const MAX_KEY = 1_024;
const MAX_TEXT = 256;

/** How a repository's key is shown. */
export const repoName = (repoKey: string): string => (repoKey === "" ? "no repository named" : repoKey);

/** How a repository's key stands in an address. */
export const repoValue = (repoKey: string): string => (repoKey === "" ? NO_REPO : repoKey);

const readDay = (text: string | null) =>
  text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) && isoInstant(Date.parse(text) || 0).startsWith(text) ? text : "";

/** Reads the filters; what makes no sense does not narrow. */
export function readAsked(query: URLSearchParams): Asked {
  const text = (name: string, most: number) => (query.get(name) ?? "").slice(0, most);
  return {
    device: text("device", 128),
    repo: text("repo", MAX_KEY),
    type: text("type", MAX_TEXT).trim(),
    text: text("q", MAX_TEXT),
    flagged: query.get("flagged") === "on" ? "on" : "",
    from: readDay(query.get("from")),
    to: readDay(query.get("to")),
  };
}

/** The filters as the room takes them. */
export function filterOf({ device, repo, type, text, flagged, from, to }: Asked): EntryFilter {
  return {
    deviceId: device || undefined,
    repoKey: repo === "" ? undefined : repo === NO_REPO ? "" : repo,
    type: type || undefined,
    text: text || undefined,
    flagged: flagged === "on" ? "conflict" : undefined,
    from: from === "" ? undefined : Date.parse(from),
    to: to === "" ? undefined : Date.parse(to) + DAY_MS,
  };
}

/** Spells the filters, and a cursor, for an address: `""` or `?…`. */
export function spellAsked(asked: Asked, at?: string): string {
  const { text, ...rest } = asked;
  const set = Object.entries({ ...rest, q: text, at: at ?? "" }).filter(([, value]) => value !== "");
  return set.length === 0 ? "" : `?${new URLSearchParams(set)}`;
}
