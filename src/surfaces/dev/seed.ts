import type { Core } from "../../core.ts";
import { createCliToken } from "../../identity/device-flow/device-flow.ts";
import { bindDevice, createCode } from "../../identity/devices/devices.ts";
import { storeMember } from "../../identity/members/members.ts";
import { emailKey, storeUser } from "../../identity/people/people.ts";
import { createReadToken } from "../../identity/read-tokens/read-tokens.ts";
import { createUser } from "../../identity/sign-in/sign-in.ts";
import { createTeam } from "../../identity/teams/teams.ts";
import { DAY_MS, MINUTE_MS } from "../../kit/clock.ts";
import { newId } from "../../kit/ids.ts";
import type { Random } from "../../kit/random.ts";
import { newToken } from "../../kit/tokens.ts";
import { SYSTEM } from "../../platform/audit/audit.ts";
import type { LocalClock } from "./clock.ts";

/** What a local instance prints, and hands out again at `GET /_dev/state`. */
export interface Credentials {
  readonly baseUrl: string;
  readonly teamId: string;
  readonly teamName: string;
  readonly deviceId: string;
  readonly deviceToken: string;
  readonly connectCode: string;
  readonly userId: string;
  readonly email: string;
  readonly password: string;
  readonly cliToken: string;
  readonly readToken: string;
}

const TEAM = "Demo";
const EMAIL = "demo@example.com";
/** The owner's colleagues. They have no passwords: hashing seven would take longer than all the rest. */
const COLLEAGUES = [
  { name: "Mira", role: "admin" },
  { name: "Tomas", role: "member" },
  { name: "Aylin", role: "member" },
  { name: "Jonas", role: "member" },
  { name: "Priya", role: "member" },
  { name: "Lena", role: "own_only" },
  { name: "Noor", role: "viewer" },
] as const;
const CODE_LIFETIME_MS = 30 * DAY_MS;
/** How long before the start the team and its first person exist, and so how far back the demo data may reach. */
const TEAM_AGE_MS = 45 * DAY_MS;

export interface CreatedTeam {
  readonly teamId: string;
  readonly user: { readonly id: string; readonly email: string };
  readonly password: string;
}

/**
 * Makes the team and its owner, some time before the start.
 * @param others source of bytes for a colleague who can be looked at; without it the owner is alone in the team
 */
export async function createTeamAndOwner(
  core: Core,
  clock: LocalClock,
  startAt: number,
  others: Random | undefined,
): Promise<CreatedTeam> {
  clock.set(startAt - TEAM_AGE_MS);
  const team = await createTeam(core, TEAM, SYSTEM, { seats: 10 });
  const password = newPassword(core);
  const owner = { email: EMAIL, name: "Ines", password, operator: true };
  const user = await createUser(core, { ...owner, team: { id: team.id, role: "owner" } }, SYSTEM);
  if (others) await createColleagues({ ...core, random: others }, team.id);
  return { teamId: team.id, user: { id: user.id, email: user.email }, password };
}

function createColleagues(core: Core, teamId: string): Promise<void> {
  return core.store.write(() => {
    for (const { name, role } of COLLEAGUES) {
      const email = `${name.toLowerCase()}@example.com`;
      const user = {
        ...{ id: newId("usr", core.clock, core.random), email, emailKey: emailKey(email), name, passwordHash: null },
        ...{ operator: 0 as const, createdAt: core.clock.now(), disabledAt: null },
      };
      storeUser(core, user, SYSTEM);
      storeMember(core, teamId, user, role, SYSTEM);
    }
  });
}

/** Random, never fixed: whoever knows the password of one instance must not know that of another. */
const newPassword = (core: Core) => newToken("rkl", core.random).slice(4, 24);

/** Makes the credentials that are printed, at the start itself. */
export async function mintCredentials(
  core: Core,
  { teamId, user, password }: CreatedTeam,
  baseUrl: string,
): Promise<Credentials> {
  const cliToken = await createCliToken(core, user, SYSTEM);
  const readToken = await createReadToken(core, { userId: user.id, name: "demo" }, SYSTEM);
  const spent = await createCode(core, teamId, SYSTEM, MINUTE_MS);
  const { deviceId, deviceToken } = await bindDevice(core, spent.code, "dev", "demo device");
  const open = await createCode(core, teamId, SYSTEM, CODE_LIFETIME_MS);
  return {
    baseUrl,
    teamId,
    teamName: TEAM,
    deviceId,
    deviceToken,
    connectCode: open.code,
    userId: user.id,
    email: user.email,
    password,
    cliToken: cliToken.accessToken,
    readToken: readToken.token,
  };
}
