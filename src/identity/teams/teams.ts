/**
 * Teams: their names, tiers, seats and subscriptions, and what a tier includes.
 * Not here: who is in a team (members), what a subscription entitles to offline (license).
 */

import type { Core } from "../../core.ts";
import { newId } from "../../kit/ids.ts";
import { conflict, fail, notFound, problem } from "../../kit/problem.ts";
import { readName } from "../../kit/read-name.ts";
import { soughtText } from "../../kit/strings.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { rows, type Subscription, type Team, type Tier } from "./rows.ts";

export { teamMoves } from "./moved.ts";
export { countTeams } from "./rows.ts";
export type { Subscription, Team };

const DEFAULT_SEATS = 5;
const MAX_NAME_CHARS = 200;

export const TIERS = ["none", "starter", "team", "enterprise"] as const satisfies readonly Tier[];
export const SUBSCRIPTIONS = [
  "active",
  "trialing",
  "past_due",
  "canceled",
  "none",
] as const satisfies readonly Subscription[];

/** How many seats a team can be given. */
export const MAX_SEATS = 1_000_000;

/** What a tier may include. */
type Capability = "telemetry" | "brain" | "traces";

const INCLUDES: Readonly<Record<Tier, readonly Capability[]>> = {
  none: [],
  starter: ["telemetry"],
  team: ["telemetry", "brain", "traces"],
  enterprise: ["telemetry", "brain", "traces"],
};

/** Whether a tier includes a capability. */
export const tierHas = (tier: Tier, capability: Capability): boolean => INCLUDES[tier].includes(capability);

export const tierGate = problem({
  name: "tierGate",
  status: 402,
  code: "payment_required",
  message: "The team's tier does not include this.",
});

/** @throws Problem tierGate (402) whose `entitled` lists the tiers that would include it. */
export function requireCapability(tier: Tier, capability: Capability): void {
  if (tierHas(tier, capability)) return;
  fail(tierGate, {
    message: `The tier "${tier}" does not include ${capability}.`,
    members: { entitled: TIERS.filter((one) => tierHas(one, capability)) },
  });
}

/** The plan of a new team; members left out have defaults. */
export interface TeamPlan {
  readonly tier?: Tier;
  readonly seats?: number;
}

/** Makes a team with an active subscription. @throws Problem when the name is taken or is not one line of text. */
export function createTeam(core: Core, name: string, by: Actor, plan: TeamPlan = {}): Promise<Team> {
  return core.store.write(() => storeTeam(core, name, plan, by));
}

/** As `createTeam`, inside a transaction. */
export function storeTeam(core: Core, name: string, plan: TeamPlan, by: Actor): Team {
  const now = core.clock.now();
  const team: Team = {
    id: newId("team", core.clock, core.random),
    name: readName(name, "A team's", MAX_NAME_CHARS),
    tier: plan.tier ?? "team",
    seats: plan.seats ?? DEFAULT_SEATS,
    subscription: "active",
    subscriptionChangedAt: now,
    periodEndAt: null,
    suspendedAt: null,
    createdAt: now,
    verifiedAt: null,
    bindingClosedAt: null,
    secondFactorSince: null,
    movedTo: null,
    movedAt: null,
    moveConfirmedAt: null,
  };
  requireFreeName(core, team.name);
  rows(core.store).insertTeam.run(team);
  recordEvent(core, by, {
    action: "team.created",
    teamId: team.id,
    target: { kind: "team", id: team.id, label: team.name },
    detail: { tier: team.tier, seats: team.seats },
  });
  return team;
}

function requireFreeName(core: Core, name: string): void {
  if (rows(core.store).teamByName.get(name))
    fail(conflict, `There is a team named "${name}" already: choose another name.`);
}

/** A team by id or exact name. */
export function findTeam(core: Core, idOrName: string): Team | undefined {
  return rows(core.store).teamById.get(idOrName) ?? rows(core.store).teamByName.get(idOrName);
}

/** @throws Problem naming what was looked for. */
export function getTeam(core: Core, idOrName: string): Team {
  const team = findTeam(core, idOrName);
  if (!team) fail(notFound, `There is no team with the id or exact name "${idOrName}" (see: reckon team list)`);
  return team;
}

/** The teams with these ids, by name. */
export const teamsById = (core: Core, ids: readonly string[]): Team[] =>
  rows(core.store).teamsById.all(JSON.stringify(ids));

/** The teams whose names contain a text. @returns their ids */
export const findTeamIds = (core: Core, text: string): string[] => rows(core.store).idsByName.all(soughtText(text));

export function listTeams(core: Core): Team[] {
  return rows(core.store).teams.all();
}

/**
 * One page of the teams, by name.
 * @param text part of a name or an id
 * @param after the last name of the page before
 */
export function pageOfTeams(
  core: Core,
  text: string,
  limit: number,
  after: string,
): { readonly rows: Team[]; readonly next: string | undefined } {
  const teams = rows(core.store).teamsFrom.all({ after, ...soughtText(text), limit: limit + 1 });
  const page = teams.slice(0, limit);
  return { rows: page, next: teams.length > limit ? page.at(-1)?.name : undefined };
}

export interface TeamChange {
  readonly name?: string;
  readonly tier?: Tier;
  readonly seats?: number;
  readonly subscription?: Subscription;
  /** Milliseconds since the epoch; null for no end. */
  readonly periodEndAt?: number | null;
  readonly suspended?: boolean;
}

/**
 * Changes the given facts of a team.
 * @param alongside what follows from the change; runs inside the transaction
 * @returns the team as it is now
 */
export function updateTeam(
  core: Core,
  idOrName: string,
  change: TeamChange,
  by: Actor,
  alongside: (core: Core, before: Team, after: Team) => void = () => {},
): Promise<Team> {
  return core.store.write(() => {
    const team = getTeam(core, idOrName);
    const now = core.clock.now();
    const turned = change.subscription !== undefined && change.subscription !== team.subscription;
    const next: Team = {
      ...team,
      name: change.name === undefined ? team.name : readName(change.name, "A team's", MAX_NAME_CHARS),
      tier: change.tier ?? team.tier,
      seats: change.seats ?? team.seats,
      subscription: change.subscription ?? team.subscription,
      subscriptionChangedAt: turned ? now : team.subscriptionChangedAt,
      periodEndAt: change.periodEndAt === undefined ? team.periodEndAt : change.periodEndAt,
      suspendedAt: (change.suspended ?? team.suspendedAt !== null) ? (team.suspendedAt ?? now) : null,
    };
    if (next.name !== team.name) requireFreeName(core, next.name);
    rows(core.store).updateTeam.run(next);
    const changed = Object.entries(next).filter(([name, value]) => team[name as keyof Team] !== value);
    if (changed.length > 0)
      recordEvent(core, by, {
        action: "team.changed",
        teamId: team.id,
        target: { kind: "team", id: team.id, label: next.name },
        detail: Object.fromEntries(changed),
      });
    alongside(core, team, next);
    return next;
  });
}

/** Marks a team as known to the operators, or takes that back. @returns false when it was so already */
export const verifyTeam = (core: Core, team: string, verified: boolean, by: Actor): Promise<boolean> =>
  setSince(core, team, "verifiedAt", verified, verified ? "team.verified" : "team.unverified", by);

/** Lets a team's members connect machines of their own, or no longer. @returns false when it was so already */
export const setMembersBind = (core: Core, team: string, allowed: boolean, by: Actor): Promise<boolean> =>
  setSince(core, team, "bindingClosedAt", !allowed, allowed ? "team.binding_opened" : "team.binding_closed", by);

/** Demands a second factor of a team's people who sign in with a password, or no longer. @returns false when it was so already */
export function setSecondFactorDemanded(core: Core, team: string, demanded: boolean, by: Actor): Promise<boolean> {
  const action = demanded ? "team.second_factor_demanded" : "team.second_factor_optional";
  return setSince(core, team, "secondFactorSince", demanded, action, by);
}

/**
 * Sets or clears a `…Since` or `…At` fact of a team.
 * @param action for the audit
 * @returns false when it was so already
 */
function setSince(
  core: Core,
  named: string,
  what: keyof ReturnType<typeof rows>["setSince"],
  isSo: boolean,
  action: string,
  by: Actor,
): Promise<boolean> {
  return core.store.write(() => {
    const { id, name, [what]: since } = getTeam(core, named);
    if ((since !== null) === isSo) return false;
    rows(core.store).setSince[what].run(isSo ? core.clock.now() : null, id);
    recordEvent(core, by, { action, teamId: id, target: { kind: "team", id, label: name } });
    return true;
  });
}

/** Whether one of some teams demands a second factor. */
export const demandsSecondFactor = (core: Core, teamIds: readonly string[]): boolean =>
  teamsById(core, teamIds).some(({ secondFactorSince }) => secondFactorSince !== null);
