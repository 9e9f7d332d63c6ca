import * as v from "valibot";
import { OUTCOME_KINDS } from "../../../../formats/outcomes.ts";
import { type SessionFilter, SORTS } from "../../../../insight/sessions/sessions.ts";
import { DAY_MS, dayNumber, isoDate } from "../../../../kit/clock.ts";
import type { Member } from "../shared/call.ts";
import { type Query, repoKeyIn, setOf } from "../shared/links.ts";
import { chosen, DAYS, type Params, readParams, spanOf, text, ticked, words } from "../shared/params.ts";
import { deviceIdsSeen, sourcesFor } from "../shared/sight.ts";
import { soughtIn } from "../shared/text.ts";

/** What the list of sessions is asked for, as it stands in the address; `""` is not set. */

/** Dollars as people type them; undefined for what is none. */
const dollarsIn = (typed: string): number | undefined =>
  /^\$?\d{1,7}(?:\.\d{1,6})?$/.test(typed) ? Number(typed.replace("$", "")) : undefined;

const VALUE = text(1_000);
const PARAMS = {
  q: words(256),
  result: chosen(OUTCOME_KINDS),
  outcome: VALUE,
  repo: VALUE,
  branch: VALUE,
  person: text(320),
  agent: VALUE,
  model: VALUE,
  device: text(64),
  cost: v.pipe(
    text(12),
    v.transform((typed) => (dollarsIn(typed) === undefined ? "" : typed)),
  ),
  errors: ticked,
  ...DAYS,
  sort: chosen(SORTS),
  dir: chosen(["asc"]),
};
export type SessionParams = Params<typeof PARAMS>;

export const sessionParams = (query: URLSearchParams): SessionParams => readParams(PARAMS, query);
/** The filters of the list that somebody came from, for the addresses of a session's pages. */
export const keptFilters = ({ query }: Pick<Member, "query">): Query => setOf(sessionParams(query));

export const sessionOrder = ({ sort, dir }: SessionParams) => ({
  sort: sort || "started",
  ascending: dir === "asc",
});

/** The filters as the room takes them, narrowed to what whoever looks sees. */
export function filterOf(call: Member, params: SessionParams): SessionFilter {
  const { q, result, outcome, repo, branch, person, agent, model, device, cost, errors, from, to } = params;
  const seen = deviceIdsSeen(call);
  return {
    repoKey: repoKeyIn(repo),
    deviceIds: device === "" ? seen : [device].filter((id) => seen?.includes(id) ?? true),
    sources: sourcesFor(call, person),
    result: result || undefined,
    outcome: outcome || undefined,
    agent: agent || undefined,
    model: model || undefined,
    branch: branch || undefined,
    minUsd: dollarsIn(cost),
    minErrors: errors === "" ? undefined : 1,
    ...spanOf({ from, to }),
    text: soughtIn(q) || undefined,
  };
}

/** Lists that are asked for most. */
export function presets({
  core,
  session,
}: Member): readonly { readonly label: string; readonly set: Partial<SessionParams> }[] {
  const now = core.clock.now();
  // Weeks begin on Monday; the epoch was a Thursday.
  const sinceMonday = (dayNumber(now) + 3) % 7;
  return [
    { label: "All", set: {} },
    { label: "Today", set: { from: isoDate(now) } },
    { label: "This week", set: { from: isoDate(now - sinceMonday * DAY_MS) } },
    { label: "Failed", set: { result: "failed" } },
    { label: "Mine", set: { person: session.userId } },
  ];
}
