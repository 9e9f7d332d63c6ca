import type { Device } from "../../../../identity/devices/devices.ts";
import type { listSessions } from "../../../../record/traces/traces.ts";
import type { Member } from "../shared/call.ts";
import { type Query, repoKeyIn, setOf } from "../shared/links.ts";
import { DAYS, type Params, readParams, spanOf, text } from "../shared/params.ts";
import { deviceIdsOf } from "../shared/people.ts";

/** What the list of sessions is narrowed by, as the query spells it; `""` is not set. */

const VALUE = text(1_000);
export const SESSION_PARAMS = {
  q: VALUE,
  repo: VALUE,
  agent: VALUE,
  model: VALUE,
  outcome: VALUE,
  branch: VALUE,
  device: VALUE,
  person: VALUE,
  ...DAYS,
};
type SessionFilter = NonNullable<Parameters<typeof listSessions>[2]>;
export type SessionParams = Params<typeof SESSION_PARAMS>;

/** The sessions that they leave. */
export function sessionFilterOf(params: SessionParams, devices: readonly Device[]): SessionFilter {
  const { repo, device, person, outcome, agent, model, branch, q, from, to } = params;
  return {
    repoKey: repoKeyIn(repo),
    deviceId: device || undefined,
    deviceIds: deviceIdsOf(devices, person),
    outcome: outcome || undefined,
    agent: agent || undefined,
    model: model || undefined,
    branch: branch || undefined,
    ...spanOf({ from, to }),
    text: q.trim() || undefined,
  };
}

/** The filters of the list that somebody came from, for the addresses of a session's pages. */
export const keptFilters = ({ query }: Pick<Member, "query">): Query => setOf(readParams(SESSION_PARAMS, query));
