import { createApiToken } from "../../../identity/api-tokens/api-tokens.ts";
import { assignDevice, listDevices } from "../../../identity/devices/devices.ts";
import { saveView } from "../../../identity/saved-views/saved-views.ts";
import { setBudget } from "../../../insight/budgets/budgets.ts";
import { freshenSpend, spendReport } from "../../../insight/spend/spend.ts";
import { DAY_MS, MINUTE_MS } from "../../../kit/clock.ts";
import type { Actor } from "../../../platform/audit/audit.ts";
import { carryOut, placeHold, requestErasure, resolveTarget, setRetention } from "../../../share/erasure/erasure.ts";
import { COLLEAGUES, type CreatedTeam } from "../seed.ts";
import type { InstanceHandle } from "../types.ts";
import { type DemoEvent, workday } from "./calendar.ts";
import { DEVICES, REPOS } from "./data.ts";

/** What people who answer for the team did: whose machines are whose, budgets, views, a token, a hold and an erasure. */

const HOUR_MS = 60 * MINUTE_MS;
/** How much of the month's budget is used at the start. */
const USED = 0.88;

export function accountability({ core }: InstanceHandle, team: CreatedTeam, by: Actor, startAt: number): DemoEvent[] {
  const { teamId, user } = team;
  const at = (on: number, hour: number) => workday(startAt, on) + hour * HOUR_MS;
  const deviceOf = (label: string) => listDevices(core, teamId).find((one) => one.label === label)?.id ?? "";
  const people = [...COLLEAGUES.map(({ email }) => email), user.email];
  const view = (place: "/sessions" | "/errors", name: string, query: string) =>
    saveView(core, teamId, user.id, { place, name, query, shared: true });
  return [
    {
      at: at(19, 9),
      happen: async () => {
        for (const [i, label] of DEVICES.entries()) await assignDevice(core, deviceOf(label), people[i] ?? null, by);
      },
    },
    { at: at(18, 9), happen: () => setRetention(core, teamId, "reads", 400, by) },
    { at: at(6, 9), happen: () => view("/sessions", "Failed in the shop", `outcome=failure&repo=${REPOS.shop}`) },
    {
      at: at(5, 9),
      happen: () =>
        createApiToken(core, { teamId, userId: user.id, name: "weekly report", lifetimeMs: 90 * DAY_MS }, by),
    },
    {
      at: at(4, 10),
      happen: () =>
        placeHold(core, { device: deviceOf(DEVICES[1]), reason: "Carrier claim 12/2026: labels bought twice" }, by),
    },
    { at: at(2, 11), happen: () => erase(core, by) },
    { at: startAt, happen: () => budgets(core, teamId, by, startAt) },
  ];
}

/** Takes out the earliest entry of the machine that nothing holds. */
async function erase(core: InstanceHandle["core"], by: Actor): Promise<void> {
  const target = resolveTarget(core, { entry: "1" });
  await carryOut(core, await requestErasure(core, target, "A customer's address in a prompt", by));
}

async function budgets(core: InstanceHandle["core"], teamId: string, by: Actor, startAt: number): Promise<void> {
  await freshenSpend(core);
  const day = new Date(startAt);
  const from = Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), 1);
  const { total } = spendReport(core, teamId, { from, to: startAt, by: "model" });
  const amountUsd = Math.max(10, Math.ceil((total.usd ?? 0) / USED));
  await setBudget(core, teamId, { scope: "team", subject: "", period: "month", amountUsd }, by);
  await setBudget(core, teamId, { scope: "repo", subject: REPOS.parcels, period: "week", amountUsd }, by);
}
