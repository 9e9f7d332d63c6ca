import { createApiToken } from "../../../identity/api-tokens/api-tokens.ts";
import { assignDevice, listDevices } from "../../../identity/devices/devices.ts";
import { saveView } from "../../../identity/saved-views/saved-views.ts";
import { setBudget } from "../../../insight/budgets/budgets.ts";
import { catchUpSpend, spendReport } from "../../../insight/spend/spend.ts";
import { DAY_MS, HOUR_MS } from "../../../kit/clock.ts";
import type { Actor } from "../../../platform/audit/audit.ts";
import { carryOut, placeHold, requestErasure, resolveTarget, setRetention } from "../../../share/erasure/erasure.ts";
import { createChannel, pauseChannel } from "../../../share/notifications/notifications.ts";
import type { CreatedTeam } from "../seed.ts";
import type { InstanceHandle } from "../types.ts";
import { type DemoEvent, workday } from "./calendar.ts";
import { DEVICES, REPOS } from "./data.ts";
import { actorOf } from "./team.ts";

/** What people who answer for the team did: whose machines are whose, budgets, views, a token, a hold and an erasure. */

/** How much of the month's budget is used at the start. */
const USED = 0.88;

export function accountability({ core }: InstanceHandle, team: CreatedTeam, by: Actor, startAt: number): DemoEvent[] {
  const { teamId, user } = team;
  const at = (on: number, hour: number) => workday(startAt, on) + hour * HOUR_MS;
  const deviceOf = (label: string) => listDevices(core, teamId).find((one) => one.label === label)?.id ?? "";
  const view = (place: "/sessions" | "/errors", name: string, query: string) =>
    saveView(core, teamId, user.id, { place, name, query, shared: true }, by);
  return [
    {
      at: at(24, 7),
      happen: async () => {
        for (const { label, of } of DEVICES)
          await assignDevice(core, deviceOf(label), (await actorOf(core, team, of)).label, by);
      },
    },
    { at: at(18, 9), happen: () => setRetention(core, teamId, "reads", 400, by) },
    { at: at(6, 9), happen: () => view("/sessions", "Failed parcels", `result=failed&repo=${REPOS.parcels}`) },
    { at: at(6, 9), happen: () => view("/sessions", "Expensive", "cost=0.5&sort=cost") },
    { at: at(6, 9), happen: () => view("/errors", "Mine", "owner=me&state=all") },
    ...channels(core, teamId, by, at(21, 10)),
    {
      at: at(5, 9),
      happen: () =>
        createApiToken(core, { teamId, userId: user.id, name: "weekly report", lifetimeMs: 90 * DAY_MS }, by),
    },
    {
      at: at(4, 10),
      happen: () =>
        placeHold(
          core,
          { device: deviceOf(DEVICES[1].label), reason: "Carrier claim 12/2026: labels bought twice" },
          by,
        ),
    },
    { at: at(2, 11), happen: () => erase(core, by) },
    { at: startAt, happen: () => budgets(core, teamId, by, startAt) },
  ];
}

/** Erases the earliest entry of the machine that is under no hold. */
async function erase(core: InstanceHandle["core"], by: Actor): Promise<void> {
  const target = resolveTarget(core, { entry: "1" });
  await carryOut(core, await requestErasure(core, target, "A customer's address in a prompt", by));
}

/** Who hears of what. They are set up and paused: a local instance has nobody to send to. */
function channels(core: InstanceHandle["core"], teamId: string, by: Actor, at: number): DemoEvent[] {
  const channel = (kind: "slack" | "mail" | "webhook", name: string, target: string, events: readonly string[]) => ({
    at,
    happen: async () => {
      const made = await createChannel(core, { teamId, kind, name, target, events }, by);
      await pauseChannel(core, { id: made.channel.id, teamId, by }, true);
    },
  });
  return [
    channel("slack", "#agents", "https://hooks.example.com/services/T024/B7", ["error.reopened", "session.failed"]),
    channel("mail", "Leads", "mira@example.com, noor@example.com", ["budget.reached", "digest.weekly"]),
    channel("webhook", "Security", "https://soc.example.com/reckon", ["gap", "rollback", "erasure.done"]),
  ];
}

/** A month's budget that ends before the month does, and the week's of a repository. */
async function budgets(core: InstanceHandle["core"], teamId: string, by: Actor, startAt: number): Promise<void> {
  await catchUpSpend(core);
  const spent = (from: number, repoKey?: string) => {
    const { total } = spendReport(core, teamId, { from, to: startAt, by: "model", ...(repoKey ? { repoKey } : {}) });
    return total.usd ?? 0;
  };
  const budget = (scope: "team" | "repo" | "model", subject: string, period: "month" | "week", usd: number) =>
    setBudget(core, teamId, { scope, subject, period, amountUsd: Math.max(1, Math.ceil(usd)) }, by);
  const day = new Date(startAt);
  const [year, month] = [day.getUTCFullYear(), day.getUTCMonth()];
  const used = spent(Date.UTC(year, month, 1));
  await budget("team", "", "month", used / USED);
  await budget("repo", REPOS.shop, "month", 2 * used);
  await budget("repo", REPOS.parcels, "week", 3 * spent(startAt - 7 * DAY_MS, REPOS.parcels));
}
