import type { Core } from "../../core.ts";
import { type DevicePrincipal, device } from "../../identity/devices/devices.ts";
import { type ReadPrincipal, readToken, scopeFilter } from "../../identity/read-tokens/read-tokens.ts";
import { isOwnOnly } from "../../identity/sight/sight.ts";
import { tierHas } from "../../identity/teams/teams.ts";
import { type Reach, readableTeams, recordDeviceRead, recordRead } from "../../insight/ask/ask.ts";
import { fail, forbidden, invalid, notFound } from "../../kit/problem.ts";
import { credential } from "../../platform/http/credential.ts";
import { redactText } from "../../redact/redact.ts";

/** Who reads: a person's read token, within its scope; or a device, within its team. */
export type Reader =
  | { readonly kind: "person"; readonly token: ReadPrincipal }
  | { readonly kind: "device"; readonly device: DevicePrincipal };

/** Either kind of token; its form tells which it is. */
export const readerToken = credential<Reader>({
  id: "reader",
  openapi: device.openapi,
  alternatives: [readToken.openapi],
  find(core, text) {
    const known = device.find(core, text) as DevicePrincipal | undefined;
    if (known) return { kind: "device", device: known };
    const token = readToken.find(core, text) as ReadPrincipal | undefined;
    return token && { kind: "person", token };
  },
  faults: device.faults ?? [],
  judge(core, reader) {
    if (reader.kind === "device") device.judge?.(core, reader.device);
  },
  sender: (reader) => (reader.kind === "device" ? device.sender(reader.device) : readToken.sender(reader.token)),
});

/** A request of a reader. */
export interface Visit {
  readonly core: Core;
  readonly reader: Reader;
  readonly ip: () => string;
}

/** What a reader may search. A device's team may have a tier without the brain. */
export function reachOf(visit: Visit): Required<Reach> {
  const { reader } = visit;
  const teams = () => teamsOpen(visit);
  if (reader.kind === "person") return { teams, keep: scopeFilter(reader.token.scope) };
  return { teams: tierHas(reader.device.tier, "brain") ? teams : () => [], keep: () => true };
}

/** The teams that a reader may ask about. */
function teamsOpen({ core, reader }: Visit): { id: string; name: string }[] {
  if (reader.kind === "person") return readableTeams(core, reader.token);
  const { teamId, teamName } = reader.device;
  return isOwnOnly(core, reader.device) ? [] : [{ id: teamId, name: teamName }];
}

/** Teams in one answer, at most: each gets a part of its room. */
const MAX_TEAMS = 8;

/**
 * The teams that a question is about: all that the reader reaches, or the one named.
 * @param named id or name
 * @throws Problem when there are none, or too many for one answer
 */
export function teamsOf(visit: Visit, named?: string): { id: string; name: string }[] {
  const all = teamsOpen(visit);
  const meant = all.filter(({ id, name }) => named === undefined || id === named || name === named);
  if (meant.length === 0)
    fail(
      notFound,
      named === undefined ? "This token gives access to no team." : "This token gives no access to such a team.",
    );
  if (meant.length > MAX_TEAMS) fail(invalid, `This token opens ${meant.length} teams: name one of them as "team".`);
  return meant;
}

/**
 * The repository that a question is about, as keys are stored; undefined for all.
 * @throws Problem when it lies outside the token's scope
 */
export function repoWithin({ reader }: Visit, named: string | undefined): string | undefined {
  const repoKey = named === undefined ? undefined : redactText(named).text;
  const repos = reader.kind === "person" ? reader.token.scope.repos : [];
  if (repos.length === 0) return repoKey;
  if (repoKey === undefined && repos.length === 1) return repos[0];
  if (repoKey !== undefined && repos.includes(repoKey)) return repoKey;
  return fail(forbidden, 'This read token is narrowed to some repositories: name one of them as "repo".');
}

/** For tools that tell of more than single files. @throws Problem when a token is narrowed to some files of its repositories */
function requireWholeBrains({ reader }: Visit): void {
  if (reader.kind === "device") return;
  const { paths, kinds } = reader.token.scope;
  if (paths.length > 0 || kinds.length > 0)
    fail(forbidden, "This read token is narrowed to some files, and this reads more than those: use brain_search.");
}

/** A read, as it is recorded. */
export interface ReadMade {
  /** What was called. */
  readonly tool: string;
  /** In the reader's words. */
  readonly question: string;
  /** How many results there were, and how many are shown. */
  readonly total: number;
  readonly shown: number;
}

/**
 * Records a read before it is answered. A read token's goes to its owner and counts against its day; a device's goes to whoever looks at
 * the device, without the words of the question.
 * @throws Problem rateLimited, or unauthorized when the token ended meanwhile; StoreUnavailable
 */
export async function recordVisit({ core, reader, ip }: Visit, read: ReadMade): Promise<void> {
  const { tool, question, total, shown } = read;
  if (reader.kind === "person") return recordRead(core, reader.token, { question, total, shown, ip: ip() });
  return recordDeviceRead(core, reader.device, { tool, total, shown, ip: ip() });
}

/** What a question is about: a repository's key, and a team by id or name. Without them, all that the reader may see. */
export interface About {
  readonly repo?: string | undefined;
  readonly team?: string | undefined;
}

/** The repository and the teams of a question that needs whole brains. @throws Problem for a reader who may not read those */
export function wholeBrainsOf(visit: Visit, { repo, team }: About) {
  requireWholeBrains(visit);
  return { repoKey: repoWithin(visit, repo), teams: teamsOf(visit, team) };
}
