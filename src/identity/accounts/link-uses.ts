import { type Core, slot } from "../../core.ts";
import { Buckets, type Quota } from "../../kit/buckets.ts";
import { conflict, fail, forbidden, gone, rateLimited } from "../../kit/problem.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { getLink } from "./links.ts";
import { requireAcceptablePassword } from "./password-rules.ts";
import { hashPassword } from "./passwords.ts";
import { type LinkRow, type Role, rows, type User } from "./people-rows.ts";
import { type Origin, storeSession } from "./sessions.ts";
import { createTeamRow, getTeam } from "./teams.ts";
import {
  emailKey,
  findUser,
  getUser,
  hasUsers,
  prepareUser,
  storeMember,
  storePassword,
  storeUser,
  teamNamesOf,
} from "./users.ts";

/** Uses a link up; call inside the transaction that does what it is for. Of parallel uses exactly one succeeds. */
function useLink(core: Core, token: string, kind: LinkRow["kind"]): LinkRow {
  const link = getLink(core, token, kind);
  rows(core.store).useLink.run(core.clock.now(), link.id);
  return link;
}

/*
 * Tokens of links have 178 bits, so nobody is made to wait for trying some. Who holds one that works gets few forms with it: an
 * invitation's say whether there is an account for an address, and each costs a hash of the password.
 */
const FORMS: Quota = { count: 20, seconds: 60 };
const forms = slot(() => new Buckets());

/** The link behind a form that was sent. @throws Problem as `getLink`, and 429 for too many forms with one link */
function linkOfForm(core: Core, token: string, kind: LinkRow["kind"]): LinkRow {
  const link = getLink(core, token, kind);
  const { allowed, retryAfterSeconds } = forms(core).take(link.id, core.clock.monotonic(), FORMS);
  if (allowed) return link;
  fail(rateLimited, {
    message: "There were too many attempts with this link. Try again in a minute.",
    retryAfterSeconds,
  });
}

export interface Chosen {
  readonly email: string;
  readonly name: string | null;
  readonly password: string;
}

/** The team of the first person: one that the command line made before (its id), or a new one by its name. */
export type FirstTeam = { readonly takeOver: string } | { readonly make: string };

/**
 * Makes the first operator, the owner of a team, and a sign-in.
 * @returns the session token
 * @throws Problem for a link, a person or a team that will not do
 */
export async function setUp(
  core: Core,
  token: string,
  chosen: Chosen,
  wanted: FirstTeam,
  origin: Origin,
): Promise<string> {
  linkOfForm(core, token, "setup");
  const teamName = "takeOver" in wanted ? getTeam(core, wanted.takeOver).name : wanted.make;
  const user = await prepareUser(core, { ...chosen, operator: true }, [teamName]);
  return core.store.write(() => {
    useLink(core, token, "setup");
    if (hasUsers(core)) fail(gone, "This installation has been set up already.");
    const by: Actor = { kind: "user", id: user.id, label: user.email, ip: origin.ip };
    storeUser(core, user, by);
    const team = "takeOver" in wanted ? getTeam(core, wanted.takeOver) : createTeamRow(core, wanted.make, {}, by);
    storeMember(core, team.id, user, "owner", by);
    return storeSession(core, user.id, origin).token;
  });
}

/** Accepts an invitation with a new account. @returns the session token */
export async function acceptAsNew(core: Core, token: string, chosen: Chosen, origin: Origin): Promise<string> {
  const link = linkOfForm(core, token, "invitation");
  if (link.email !== null && emailKey(link.email) !== emailKey(chosen.email))
    fail(forbidden, "This invitation is for another e-mail address.");
  if (findUser(core, chosen.email)) fail(conflict, "You have an account already: sign in, then open the link again.");
  const user = await prepareUser(core, chosen, link.teamName === null ? [] : [link.teamName]);
  return core.store.write(() => {
    const used = useLink(core, token, "invitation");
    const by: Actor = { kind: "user", id: user.id, label: user.email, ip: origin.ip };
    storeUser(core, user, by);
    join(core, used, user, by);
    return storeSession(core, user.id, origin).token;
  });
}

/** Accepts an invitation as somebody who is signed in. @returns the team */
export function acceptAs(core: Core, token: string, userId: string, by: Actor): Promise<{ readonly teamId: string }> {
  return core.store.write(() => {
    const user = getUser(core, userId);
    const { email } = getLink(core, token, "invitation");
    if (email !== null && emailKey(email) !== user.emailKey)
      fail(forbidden, `This invitation is for ${email}; you are signed in as ${user.email}.`);
    return join(core, useLink(core, token, "invitation"), user, by);
  });
}

const RANK = { member: 0, admin: 1, owner: 2 } as const;

function join(core: Core, link: LinkRow, user: { id: string; email: string }, by: Actor): { readonly teamId: string } {
  const teamId = link.teamId as string;
  const wanted = link.role as Role;
  const has = rows(core.store).role.get(teamId, user.id);
  // An invitation never takes away what somebody is already.
  if (has === undefined || RANK[wanted] > RANK[has]) storeMember(core, teamId, user, wanted, by);
  recordEvent(core, by, {
    action: "invitation.accepted",
    teamId,
    target: { kind: "invitation", id: link.id, label: user.email },
  });
  return { teamId };
}

/**
 * Chooses a new password with a reset link; every sign-in of the person ends but the new one.
 * @param alongside what else ends with the old password; runs inside the transaction
 * @returns the session token
 */
export async function resetPassword(
  core: Core,
  token: string,
  password: string,
  origin: Origin,
  alongside: (user: User, by: Actor) => void = () => {},
): Promise<string> {
  const user = getUser(core, linkOfForm(core, token, "reset").userId as string);
  requireAcceptablePassword(password, { ...user, teams: teamNamesOf(core, user.id) });
  const hash = await hashPassword(password, core.random);
  return core.store.write(() => {
    useLink(core, token, "reset");
    // Closed perhaps while the hash was being computed.
    if (getUser(core, user.id).disabledAt !== null) fail(forbidden, "This account is closed.");
    const by: Actor = { kind: "user", id: user.id, label: user.email, ip: origin.ip };
    storePassword(core, user, hash, by);
    alongside(user, by);
    return storeSession(core, user.id, origin).token;
  });
}
