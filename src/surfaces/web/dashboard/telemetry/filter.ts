import type { EntryFilter } from "../../../../record/telemetry/telemetry.ts";
import { choiceIn, type Days, daysIn, spanOf, textIn } from "../shared/params.ts";

/** The filters of the telemetry pages, as they stand in the address. */
export type Params = Days & {
  readonly device: string;
  /** A repository's key, `NO_REPO` for what came without one, `""` for all. */
  readonly repo: string;
  readonly type: string;
  readonly q: string;
  readonly flagged: "" | "on";
};

/** Stands for the empty key in an address, where an empty value means "all". */
export const NO_REPO = "(none)";
/** Keys are as long as a client may make them (identifiers of the API). */
const MAX_KEY = 1_024;
const MAX_TEXT = 256;

/** How a repository's key stands in an address. */
export const repoValue = (repoKey: string): string => (repoKey === "" ? NO_REPO : repoKey);

/** Reads the filters; what makes no sense does not narrow. */
export function readParams(query: URLSearchParams): Params {
  return {
    device: textIn(query, "device", 128),
    repo: textIn(query, "repo", MAX_KEY),
    type: textIn(query, "type", MAX_TEXT).trim(),
    flagged: choiceIn(query, "flagged", ["on"]) ?? "",
    ...daysIn(query),
    q: textIn(query, "q", MAX_TEXT),
  };
}

/** The filters as the room takes them. */
export function filterOf({ device, repo, type, q, flagged, ...days }: Params): EntryFilter {
  return {
    deviceId: device || undefined,
    repoKey: repo === NO_REPO ? "" : repo || undefined,
    type: type || undefined,
    text: q || undefined,
    flagged: flagged === "on" ? "conflict" : undefined,
    ...spanOf(days),
  };
}
