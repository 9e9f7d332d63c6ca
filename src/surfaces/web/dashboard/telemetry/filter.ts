import * as v from "valibot";
import { type EntryFilter, listRepoKeys } from "../../../../record/telemetry/telemetry.ts";
import type { Filter } from "../../ui/list.ts";
import type { Member } from "../shared/call.ts";
import { repoKeyIn, repoName, repoOptions, repoValue } from "../shared/links.ts";
import { DAYS, MAX_OPTIONS, type Params, selectFilter, spanOf, text, ticked, words } from "../shared/params.ts";
import { seenLastFirst } from "../shared/people.ts";
import { deviceIdsSeen, devicesSeen, seesDevice } from "../shared/sight.ts";

/** The filters of the telemetry pages, as they stand in the address. */

/** Keys are as long as a client may make them (identifiers of the API). */
const MAX_KEY = 1_024;
const MAX_TEXT = 256;

/** The former value in addresses for what came without a repository; views that were saved then still have it. */
const NO_REPO_ONCE = "(none)";

/** Of these pages' addresses; a repository stands there as `repoValue` has it. */
export const PARAMS = {
  device: text(128),
  repo: v.pipe(
    text(MAX_KEY),
    v.transform((value) => (value === NO_REPO_ONCE ? repoValue("") : value)),
  ),
  type: words(MAX_TEXT),
  session: text(MAX_KEY),
  flagged: ticked,
  ...DAYS,
  q: text(MAX_TEXT),
};
export type EntryParams = Params<typeof PARAMS>;
/** What tells streams apart, which all pages of telemetry can be narrowed to. */
export type StreamParams = Pick<EntryParams, "device" | "repo">;

/** The filters as the room takes them, narrowed to what whoever looks sees. */
export function filterOf(call: Member, { device, repo, type, session, q, flagged, ...days }: EntryParams): EntryFilter {
  const isSeen = device !== "" && seesDevice(call, device);
  return {
    deviceId: device || undefined,
    deviceIds: isSeen ? undefined : deviceIdsSeen(call),
    repoKey: repoKeyIn(repo),
    type: type || undefined,
    sessionId: session || undefined,
    text: q || undefined,
    flagged: flagged === "on" ? "conflict" : undefined,
    ...spanOf(days),
  };
}

/** The repositories of the streams that whoever looks sees. */
export const repoKeysSeen = (call: Member): string[] =>
  listRepoKeys(call.core, call.session.team.id, deviceIdsSeen(call));

/** The filters that tell streams apart. */
export function streamFilters(call: Member, { device, repo }: StreamParams): Filter[] {
  const seen = devicesSeen(call);
  const first = seen.length > MAX_OPTIONS ? seenLastFirst(seen) : seen;
  const devices = first.map(({ id, label }) => ({ value: id, label: label ?? id }));
  const repos = repoOptions(repoKeysSeen(call));
  return [
    selectFilter({ name: "device", label: "Device", value: device }, "All devices", devices),
    selectFilter({ name: "repo", label: "Repository", value: repo }, "All repositories", repos, (value) =>
      repoName(repoKeyIn(value) ?? ""),
    ),
  ];
}
