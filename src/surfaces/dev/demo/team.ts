import type { Core } from "../../../core.ts";
import { bindDevice, createCode, revokeDevice } from "../../../identity/devices/devices.ts";
import { listMembers } from "../../../identity/members/members.ts";
import { createInvitation } from "../../../identity/one-time-links/one-time-links.ts";
import { createReadToken } from "../../../identity/read-tokens/read-tokens.ts";
import { storeSession } from "../../../identity/web-sessions/web-sessions.ts";
import { HOUR_MS, MINUTE_MS } from "../../../kit/clock.ts";
import { type Actor, recordEvent } from "../../../platform/audit/audit.ts";
import { parsePolicy, setPolicy } from "../../../record/policy/policy.ts";
import type { LocalClock } from "../clock.ts";
import type { CreatedTeam } from "../seed.ts";
import type { DemoEvent } from "./calendar.ts";
import { WORKDAYS, workday } from "./calendar.ts";
import { DEVICES, REPOS } from "./data.ts";

/** What people did in the demo team: devices, policy, invitations, questions to the brain. */

export const AGENT = "brightloom-report.sh (own script)";
const OLD_DEVICE = "old build agent";

const QUESTIONS = [
  { minutesAgo: 26 * 60, q: "why is a voucher redeemed by one update" },
  { minutesAgo: 150, q: "how are report days cut" },
  { minutesAgo: 55, q: "cart rounding" },
  { minutesAgo: 12, q: "webhook signature" },
];

/** When each person last looked at the dashboard; none of them acted later. */
const VISITS = [
  { name: "tomas", minutesAgo: 35 },
  { name: "mira", minutesAgo: 2 * 60 },
  { name: "priya", minutesAgo: 5 * 60 },
  { name: "jonas", minutesAgo: 22 * 60 },
  { name: "aylin", minutesAgo: 27 * 60 },
  { name: "noor", minutesAgo: 2 * 24 * 60 },
  { name: "lena", minutesAgo: 3 * 24 * 60 },
];
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:148.0) Gecko/20100101 Firefox/148.0";

/** Somebody of the team, by what their address begins with. */
export async function actorOf(core: Core, { teamId }: CreatedTeam, name: string): Promise<Actor> {
  const person = (await listMembers(core, teamId)).find(({ email }) => email.startsWith(`${name}@`));
  if (!person) throw new Error(`the demo data names nobody: ${name}`);
  return { kind: "user", id: person.userId, label: person.email, ip: "127.0.0.1" };
}

export const ownerOf = ({ user }: CreatedTeam): Actor => ({
  kind: "user",
  id: user.id,
  label: user.email,
  ip: "127.0.0.1",
});

/** Connects the machines, one after the other on a morning. @returns their tokens, in the order of DEVICES */
export async function connectDevices(core: Core, clock: LocalClock, team: CreatedTeam, startAt: number) {
  const tokens: string[] = [];
  clock.set(workday(startAt, WORKDAYS + 1) + 8 * HOUR_MS);
  for (const label of [...DEVICES.map((one) => one.label), OLD_DEVICE]) {
    const { code } = await createCode(core, team.teamId, ownerOf(team), 15 * MINUTE_MS);
    clock.advance(4 * MINUTE_MS);
    const { deviceId, deviceToken } = await bindDevice(core, code, "2026-01", label, AGENT);
    clock.advance(9 * MINUTE_MS);
    tokens.push(deviceToken);
    if (label === OLD_DEVICE) await revokeDevice(core, deviceId, ownerOf(team));
  }
  return tokens;
}

/** Changes of the policy, and somebody who was invited. */
export function policyAndPeople(core: Core, team: CreatedTeam, startAt: number): DemoEvent[] {
  const { teamId } = team;
  const by = ownerOf(team);
  const policy = (document: object) => () => setPolicy(core, teamId, parsePolicy(JSON.stringify(document)), by);
  const at = (on: number) => workday(startAt, on) + 8 * HOUR_MS;
  const watchlist = ["src/payment/**"];
  return [
    { at: at(20), happen: policy({ captureMode: "redacted", watchlist }) },
    {
      at: at(9),
      happen: policy({
        captureMode: "redacted",
        watchlist: [...watchlist, "migrations/**"],
        actions: { requireApprovals: true },
      }),
    },
    { at: at(2), happen: () => createInvitation(core, { teamId, role: "member", email: "ravi@example.com" }, by) },
  ];
}

/** Sign-ins of the owner's colleagues, who have no passwords that could be typed. */
export function visits(core: Core, team: CreatedTeam, startAt: number): DemoEvent[] {
  return VISITS.map(({ name, minutesAgo }) => ({
    at: startAt - minutesAgo * MINUTE_MS,
    happen: async () => {
      const by = await actorOf(core, team, name);
      return core.store.write(() => {
        const { id } = storeSession(core, by.id as string, { ip: "127.0.0.1", userAgent: BROWSER });
        recordEvent(core, by, { action: "session.started", teamId: null, target: { kind: "session", id } });
      });
    },
  }));
}

/**
 * An editor that reads the brain with a token of its own.
 * @param ask sends a question with the token
 */
export function questions(
  core: Core,
  team: CreatedTeam,
  startAt: number,
  ask: (token: string, q: string) => Promise<unknown>,
): DemoEvent[] {
  let token = "";
  const readToken = { userId: team.user.id, name: "editor plug-in", scope: { repos: [REPOS.shop] } };
  return [
    {
      at: workday(startAt, 4) + 9 * HOUR_MS,
      happen: async () => {
        ({ token } = await createReadToken(core, readToken, ownerOf(team)));
      },
    },
    ...QUESTIONS.map(({ minutesAgo, q }) => ({ at: startAt - minutesAgo * MINUTE_MS, happen: () => ask(token, q) })),
  ];
}
