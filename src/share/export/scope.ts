import type { Core } from "../../core.ts";
import { deviceIdsOf, listDevices } from "../../identity/devices/devices.ts";
import { getListedUser, getUser } from "../../identity/people/people.ts";
import { getTeam, listTeams } from "../../identity/teams/teams.ts";
import { fail, invalid, notFound } from "../../kit/problem.ts";
import { deliveryExport } from "../../log/log.ts";
import { traceExport } from "../../record/traces/traces.ts";

/** What somebody asks for: one of these. */
export interface ExportRequest {
  /** An id or exact name; beside a repository it narrows that to one team. */
  readonly team?: string | undefined;
  readonly repo?: string | undefined;
  /** E-mail address or id. */
  readonly person?: string | undefined;
}

/** What goes into an archive. */
export interface ExportScope {
  readonly kind: "team" | "repo" | "person";
  /** Devices by team. */
  readonly teams: readonly { readonly teamId: string; readonly name: string; readonly deviceIds: readonly string[] }[];
  /** Null for all repositories. */
  readonly repoKey: string | null;
  /** The account, for a person. */
  readonly person: ReturnType<typeof getListedUser> | null;
}

/** @throws Problem when there is no such thing, or not one thing is named */
export function resolveScope(core: Core, { team, repo, person }: ExportRequest): ExportScope {
  const named = [person, repo ?? team].filter((name) => name !== undefined);
  if (named.length !== 1) fail(invalid, "Name one thing to export: a repository, a team or a person.");
  const withDevices = ({ id: teamId, name }: { readonly id: string; readonly name: string }) => ({
    teamId,
    name,
    deviceIds: deviceIdsOf(core, { teamId }),
  });
  if (person === undefined) {
    const teams = (team === undefined ? listTeams(core) : [getTeam(core, team)]).map(withDevices);
    if (repo !== undefined && !teams.some(({ deviceIds }) => deviceIds.some((id) => isKnown(core, id, repo))))
      fail(notFound, `nothing was recorded of a repository "${repo}"`);
    return { kind: repo === undefined ? "team" : "repo", teams, repoKey: repo ?? null, person: null };
  }
  const { id } = getUser(core, person);
  const byTeam = Map.groupBy(listDevices(core, undefined, id), ({ teamId }) => teamId);
  const teams = [...byTeam].map(([teamId, devices]) => ({
    teamId,
    name: getTeam(core, teamId).name,
    deviceIds: devices.map((device) => device.id),
  }));
  return { kind: "person", teams, repoKey: null, person: getListedUser(core, id) };
}

/** Whether there is anything of a repository, be it that something was erased. */
const isKnown = (core: Core, deviceId: string, repoKey: string): boolean =>
  deliveryExport.hasDelivered(core, deviceId, repoKey) || !traceExport.sessions(core, deviceId, repoKey).next().done;
