import type { Core } from "../../core.ts";
import { newId } from "../../kit/ids.ts";
import { conflict, fail, invalid, notFound } from "../../kit/problem.ts";
import { hasControls } from "../../kit/strings.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { judgeUrl, listLine, OutboundRefused } from "../../platform/outbound/outbound.ts";
import { forgetDirectory, reviewDirectory } from "../directory/directory.ts";
import { ROLES, type Role, removeMembersFrom, roleNamed } from "../members/members.ts";
import { findTeam, getTeam } from "../teams/teams.ts";
import { endSessionsBy } from "../web-sessions/web-sessions.ts";
import { type GroupRow, type IssuerRow, rows } from "./rows.ts";

/** An issuer of OpenID Connect that vouches for people here. */
export interface Issuer extends Omit<IssuerRow, "domains" | "jit" | "trustEmail"> {
  /** Domains of the e-mail addresses by which an existing account may be linked the first time. */
  readonly domains: readonly string[];
  /** Whether an account is made for somebody without one. */
  readonly jit: boolean;
  /** Whether its e-mail addresses count as verified although it does not say so. */
  readonly trustEmail: boolean;
  readonly groups: readonly GroupRow[];
}

/** A change of an issuer; members left out keep their value, or their default. */
export interface IssuerChange {
  readonly issuer?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | null | undefined;
  readonly label?: string | undefined;
  readonly scopes?: string | undefined;
  readonly groupsClaim?: string | undefined;
  readonly domains?: readonly string[] | undefined;
  readonly jit?: boolean | undefined;
  readonly trustEmail?: boolean | undefined;
  readonly sessionHours?: number | undefined;
  /** Each `GROUP=TEAM:ROLE`; replaces all that there are. */
  readonly groups?: readonly string[] | undefined;
}

/** Memberships that one transaction takes away. */
const BATCH = 100;
const MAX_ISSUERS = 50;
const MAX_GROUPS = 1_000;
const MAX_DOMAINS = 100;
const MAX_TEXT_CHARS = 500;
const MAX_SESSION_HOURS = 720;
const DEFAULT_SCOPES = "email profile";
const DEFAULT_GROUPS_CLAIM = "groups";
const DEFAULT_SESSION_HOURS = 24;

/** All issuers, by name. */
export const listIssuers = (core: Core): Issuer[] =>
  rows(core.store)
    .issuers.all()
    .map((row) => issuerOf(core, row));

/** @throws Problem 404 */
export function getIssuer(core: Core, name: string): Issuer {
  const row = rows(core.store).issuerByName.get(name);
  if (!row) fail(notFound, `There is no single sign-on named "${name.slice(0, 60)}" here.`);
  return issuerOf(core, row);
}

export function findIssuer(core: Core, id: string): Issuer | undefined {
  const row = rows(core.store).issuerById.get(id);
  return row && issuerOf(core, row);
}

/** The first issuer, by name, that may let in people with addresses of a domain. @param domain in lower case */
export const issuerOfDomain = (core: Core, domain: string): Issuer | undefined =>
  listIssuers(core).find(({ domains }) => domains.includes(domain));

/** How many people have an identity of an issuer. */
export const countIdentities = (core: Core, issuerId: string): number =>
  rows(core.store).identityCount.get(issuerId) ?? 0;

const issuerOf = (core: Core, row: IssuerRow): Issuer => ({
  ...row,
  domains: JSON.parse(row.domains),
  jit: row.jit === 1,
  trustEmail: row.trustEmail === 1,
  groups: rows(core.store).groups.all(row.id),
});

const rowOf = ({ groups: _, ...issuer }: Issuer): IssuerRow => ({
  ...issuer,
  domains: JSON.stringify(issuer.domains),
  jit: issuer.jit ? 1 : 0,
  trustEmail: issuer.trustEmail ? 1 : 0,
});

/** Adds an issuer. Nothing is asked of it yet. @throws Problem for what will not do */
export function addIssuer(core: Core, name: string, change: IssuerChange, by: Actor): Promise<Issuer> {
  if (!/^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/.test(name))
    fail(invalid, "A name has up to 40 lower-case letters, digits and hyphens: it stands in addresses.");
  // A sign-in stores its issuer's name: by this one it would pass for a sign-in by a trusted proxy, and end at once.
  if (name === "proxy") fail(invalid, "The name “proxy” is taken: it stands for a proxy that signs people in.");
  const blank: Issuer = {
    id: newId("sso", core.clock, core.random),
    name,
    issuer: "",
    clientId: "",
    clientSecret: null,
    label: name,
    scopes: DEFAULT_SCOPES,
    groupsClaim: DEFAULT_GROUPS_CLAIM,
    domains: [],
    jit: false,
    trustEmail: false,
    sessionHours: DEFAULT_SESSION_HOURS,
    createdAt: core.clock.now(),
    groups: [],
  };
  return core.store.write(() => {
    if (rows(core.store).issuerByName.get(name)) fail(conflict, `There is a single sign-on named "${name}" already.`);
    if (rows(core.store).issuers.all().length >= MAX_ISSUERS)
      fail(conflict, `There are ${MAX_ISSUERS} issuers already.`);
    const made = changed(core, blank, change);
    rows(core.store).insertIssuer.run(rowOf(made));
    storeGroups(core, made);
    record(core, "sso.added", made, by);
    return made;
  });
}

/** Changes an issuer; people who signed in by it keep their accounts. @throws Problem */
export function changeIssuer(core: Core, name: string, change: IssuerChange, by: Actor): Promise<Issuer> {
  return core.store.write(() => {
    const before = getIssuer(core, name);
    const after = changed(core, before, change);
    // Subjects are unique to an issuer: another issuer's would be other people.
    if (after.issuer !== before.issuer && countIdentities(core, before.id) > 0)
      fail(conflict, "People have signed in by this issuer. Add the other one under a name of its own.");
    if (after.issuer !== before.issuer) rows(core.store).removeHolders.run(after.id);
    rows(core.store).updateIssuer.run(rowOf(after));
    rows(core.store).removeGroups.run(after.id);
    storeGroups(core, after);
    reviewDirectory(core, after.id);
    record(core, "sso.changed", after, by);
    return after;
  });
}

/**
 * Removes an issuer, with the memberships that its groups gave and the sign-ins by it. Accounts stay. Thousands of people lose their
 * memberships a few at a time, so that others get their turn. If the process ends meanwhile, the command is repeated.
 * @throws Problem 404
 */
export async function removeIssuer(core: Core, name: string, by: Actor): Promise<void> {
  const sql = rows(core.store);
  const issuer = await core.store.write(() => {
    const found = getIssuer(core, name);
    // People who sign in until it is gone come into no team, and nobody is linked.
    sql.updateIssuer.run(rowOf({ ...found, domains: [], jit: false, trustEmail: false }));
    sql.removeGroups.run(found.id);
    return found;
  });
  let removed = BATCH;
  while (removed === BATCH) removed = await core.store.write(() => removeMembersFrom(core, issuer.id, by, BATCH));
  await core.store.write(() => {
    getIssuer(core, name);
    // Memberships that a change of its groups gave meanwhile.
    removeMembersFrom(core, issuer.id, by, Number.MAX_SAFE_INTEGER);
    forgetDirectory(core, issuer.id);
    endSessionsBy(core, issuer.name);
    sql.removeIdentities.run(issuer.id);
    sql.removeHolders.run(issuer.id);
    sql.removeGroups.run(issuer.id);
    sql.removeIssuer.run(issuer.id);
    record(core, "sso.removed", issuer, by);
  });
}

function storeGroups(core: Core, { id, groups }: Issuer): void {
  for (const { groupName, teamId, role } of groups) rows(core.store).insertGroup.run(id, groupName, teamId, role);
}

function record(core: Core, action: string, { id, name, issuer, groups }: Issuer, by: Actor): void {
  recordEvent(core, by, {
    action,
    teamId: null,
    target: { kind: "sso", id, label: name },
    detail: { issuer, groups: groups.length },
  });
}

function changed(core: Core, before: Issuer, change: IssuerChange): Issuer {
  const text = (value: string | undefined, kept: string, what: string) => {
    const read = value?.trim() ?? kept;
    if (read === "" || read.length > MAX_TEXT_CHARS || hasControls(read)) fail(invalid, `Say ${what}, on one line.`);
    return read;
  };
  const hours = change.sessionHours ?? before.sessionHours;
  if (!Number.isInteger(hours) || hours < 1 || hours > MAX_SESSION_HOURS)
    fail(invalid, `A sign-in lasts from 1 to ${MAX_SESSION_HOURS} hours.`);
  const after: Issuer = {
    ...before,
    issuer: change.issuer === undefined && before.issuer !== "" ? before.issuer : issuerUrl(change.issuer),
    clientId: text(change.clientId, before.clientId, "the client's id"),
    clientSecret: change.clientSecret === undefined ? before.clientSecret : change.clientSecret || null,
    label: text(change.label, before.label, "what the button says"),
    scopes: text(change.scopes, before.scopes, "the scopes"),
    groupsClaim: text(change.groupsClaim, before.groupsClaim, "the claim that lists groups"),
    domains: change.domains === undefined ? before.domains : readDomains(change.domains),
    jit: change.jit ?? before.jit,
    trustEmail: change.trustEmail ?? before.trustEmail,
    sessionHours: hours,
    groups: change.groups === undefined ? before.groups : readGroups(core, change.groups),
  };
  if (after.trustEmail && after.domains.length === 0)
    fail(invalid, "Addresses are trusted for listed domains only: name them.");
  return after;
}

/** An issuer identifier is a URL without query or fragment (OpenID Connect Discovery 1.0, section 3). */
function issuerUrl(typed = ""): string {
  const text = typed.trim();
  const url = URL.canParse(text) && text.length <= MAX_TEXT_CHARS ? new URL(text) : undefined;
  if (url?.search !== "" || url.hash !== "" || !/^https?:$/.test(url.protocol))
    fail(invalid, "The issuer is an https:// address without ? and #, as its metadata names it.");
  return text;
}

/** Why the server may not call an issuer, with the setting that allows it; undefined when it may. */
export function blockedBy(core: Pick<Core, "config">, { issuer }: Pick<Issuer, "issuer">): string | undefined {
  try {
    judgeUrl(core, issuer);
    return undefined;
  } catch (error) {
    if (!(error instanceof OutboundRefused)) throw error;
    return error.add === undefined
      ? error.message
      : `${error.message} Set ${listLine(core, error.add)} and start the server again.`;
  }
}

function readDomains(typed: readonly string[]): string[] {
  const domains = [...new Set(typed.map((one) => one.trim().toLowerCase().replace(/^@/, "")).filter(Boolean))];
  if (domains.length > MAX_DOMAINS) fail(invalid, `${MAX_DOMAINS} domains at most.`);
  for (const domain of domains)
    if (!/^(?=.{1,253}$)[^\s@,:/\\]+\.[^\s@,:/\\]+$/.test(domain))
      fail(invalid, `"${domain.slice(0, 60)}" is no domain.`);
  return domains;
}

/** Reads `GROUP=TEAM:ROLE`. The group's name is everything before the last `=` that leaves a team and a role. */
function readGroups(core: Core, typed: readonly string[]): GroupRow[] {
  const groups = new Map<string, GroupRow>();
  for (const line of typed.map((one) => one.trim()).filter(Boolean)) {
    const [, groupName = "", teamText = "", roleText = ""] = /^(.{1,256})=([^=]+):([a-z_-]+)$/.exec(line) ?? [];
    const role = roleNamed(roleText);
    if (role === undefined || hasControls(line))
      fail(invalid, `"${line.slice(0, 80)}" is not GROUP=TEAM:ROLE, where the role is ${ROLES.join(", ")}.`);
    const { id: teamId } = getTeam(core, teamText.trim());
    groups.set(`${groupName.trim()}\n${teamId}`, { groupName: groupName.trim(), teamId, role });
  }
  if (groups.size > MAX_GROUPS) fail(invalid, `${MAX_GROUPS} groups at most.`);
  return [...groups.values()];
}

/**
 * A group's meaning in the form that `readGroups` reads: the team by its name, or by its id where the name would be read as something else.
 */
export function groupLine(core: Core, { groupName, teamId, role }: GroupRow): string {
  const { name } = getTeam(core, teamId);
  const team = name.includes("=") || findTeam(core, name)?.id !== teamId ? teamId : name;
  return `${groupName}=${team}:${role}`;
}

/** The roles that groups of an issuer give: the highest in each team. @param groups as the issuer names them */
export function rolesBy({ groups: maps }: Issuer, groups: readonly string[]): Map<string, Role> {
  const present = new Set(groups);
  const roles = new Map<string, Role>();
  for (const { groupName, teamId, role } of maps) {
    if (groupName !== "*" && !present.has(groupName)) continue;
    const before = roles.get(teamId);
    if (before === undefined || ROLES.indexOf(role) < ROLES.indexOf(before)) roles.set(teamId, role);
  }
  return roles;
}
