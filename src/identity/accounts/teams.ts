import type { Core } from "../../core.ts";
import { newId } from "../../kit/ids.ts";
import { conflict, fail, invalid, notFound } from "../../kit/problem.ts";
import { hasControls, likePattern } from "../../kit/strings.ts";
import { type Actor, COMMAND_LINE, recordEvent } from "../../platform/audit/audit.ts";
import { rows, type Subscription, type Team, type Tier } from "./rows.ts";
import { getUser, storeMember } from "./users.ts";

const DEFAULT_SEATS = 5;

interface NewTeam {
  readonly tier?: Tier;
  readonly seats?: number;
  /** Who owns it from the start; nobody does otherwise. */
  readonly ownerId?: string;
}

/** Makes a team with an active subscription. @throws Problem when the name is taken or is not one line of text. */
export function createTeam(core: Core, name: string, options: NewTeam = {}, by: Actor = COMMAND_LINE): Promise<Team> {
  return core.store.write(() => createTeamRow(core, name, options, by));
}

/** Makes a team; call inside a transaction. @throws Problem */
export function createTeamRow(core: Core, name: string, options: NewTeam, by: Actor): Team {
  const now = core.clock.now();
  const team: Team = {
    id: newId("team", core.clock, core.random),
    name: readName(name),
    tier: options.tier ?? "team",
    seats: options.seats ?? DEFAULT_SEATS,
    subscription: "active",
    subscriptionChangedAt: now,
    periodEndAt: null,
    suspendedAt: null,
    createdAt: now,
  };
  requireFreeName(core, team.name);
  rows(core.store).insertTeam.run(team);
  recordEvent(core, by, {
    action: "team.created",
    teamId: team.id,
    target: { kind: "team", id: team.id, label: team.name },
    detail: { tier: team.tier, seats: team.seats },
  });
  if (options.ownerId !== undefined) storeMember(core, team.id, getUser(core, options.ownerId), "owner", by);
  return team;
}

function readName(name: string): string {
  const trimmed = name.trim();
  if (trimmed.length < 1 || trimmed.length > 200 || hasControls(trimmed))
    fail(invalid, "A team's name has 1 to 200 characters on one line.");
  return trimmed;
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
  after = "",
): { readonly rows: Team[]; readonly next: string | undefined } {
  const found = rows(core.store).teamsFrom.all({ after, like: likePattern(text), limit: limit + 1 });
  const page = found.slice(0, limit);
  return { rows: page, next: found.length > limit ? page.at(-1)?.name : undefined };
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

/** Changes what is given of a team. @returns the team as it is now. */
export function updateTeam(core: Core, idOrName: string, change: TeamChange, by: Actor = COMMAND_LINE): Promise<Team> {
  return core.store.write(() => {
    const team = getTeam(core, idOrName);
    const now = core.clock.now();
    const turned = change.subscription !== undefined && change.subscription !== team.subscription;
    const next: Team = {
      ...team,
      name: change.name === undefined ? team.name : readName(change.name),
      tier: change.tier ?? team.tier,
      seats: change.seats ?? team.seats,
      subscription: change.subscription ?? team.subscription,
      subscriptionChangedAt: turned ? now : team.subscriptionChangedAt,
      periodEndAt: change.periodEndAt === undefined ? team.periodEndAt : change.periodEndAt,
      suspendedAt:
        change.suspended === undefined ? team.suspendedAt : change.suspended ? (team.suspendedAt ?? now) : null,
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
    return next;
  });
}
