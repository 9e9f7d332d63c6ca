import { describe, expect, it } from "vitest";
import { assignDevice } from "../../../src/identity/devices/devices.ts";
import { budgetStandings, removeBudget, setBudget } from "../../../src/insight/budgets/budgets.ts";
import { checkBudgets } from "../../../src/insight/budgets/check.ts";
import { forecast, spanAt } from "../../../src/insight/budgets/forecast.ts";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { makeAccount } from "../../support/accounts.ts";
import { startInstance, startWithDevice, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { turnsOfOthers } from "../../support/others.ts";

let seq = 0;
/** A call of claude-opus-4-6 (5 dollars a million in) at the instance's time. */
async function spend(t: TestInstance, { token }: TestDevice, usd: number, repoKey = "shop", daysAgo = 0) {
  const clientTimestamp = new Date(t.clock.now() - daysAgo * DAY_MS).toISOString();
  const payload = {
    type: "reply",
    model: "claude-opus-4-6",
    usage: { input_tokens: Math.round((usd / 5) * 1e6), output_tokens: 0 },
  };
  const json = { repoKey, entries: [{ seq: ++seq, clientTimestamp, payload }] };
  expect((await t.post("/api/telemetry/ingest", { token, json })).status).toBe(200);
  await t.instance.settle();
}
const whole = { scope: "team", subject: "", period: "month" } as const;
const day = (text: string) => Date.parse(text) / DAY_MS;

describe("a budget", () => {
  it("belongs to a team, a repository, a person or a model, each by its own spend", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const [one, other] = [await t.device(), undefined] as const;
    const team = one.team.id;
    const robot = await t.device(one.team);
    const ada = await makeAccount(core, {
      email: "ada@example.com",
      name: null,
      operator: false,
      team: { id: team, role: "owner" },
    });
    await assignDevice(core, one.deviceId, ada.id, COMMAND_LINE);
    await spend(t, one, 30);
    await spend(t, robot, 12, "till");
    await setBudget(core, team, { ...whole, amountUsd: 100 }, COMMAND_LINE);
    await setBudget(core, team, { ...whole, scope: "repo", subject: "till", amountUsd: 10.5 }, COMMAND_LINE);
    await setBudget(core, team, { ...whole, scope: "person", subject: ada.id, amountUsd: 100 }, COMMAND_LINE);
    await setBudget(
      core,
      team,
      {
        ...whole,
        scope: "model",
        subject: "claude-opus-4-6",
        period: "week",
        amountUsd: 1,
      },
      COMMAND_LINE,
    );
    await setBudget(core, team, { ...whole, scope: "model", subject: "none", amountUsd: 1 }, COMMAND_LINE);
    const found = new Map((await budgetStandings(core, team)).map((one) => [`${one.scope} ${one.subject}`, one]));
    expect(other).toBeUndefined();
    expect(found.get("team ")).toMatchObject({ usedUsd: 42, from: "2026-11-01", to: "2026-11-30", state: "on track" });
    expect(found.get("repo till")).toMatchObject({ usedUsd: 12, amountUsd: 10.5, state: "exceeded", exceedsOn: null });
    expect(found.get(`person ${ada.id}`)).toMatchObject({ usedUsd: 30 });
    expect(found.get("model claude-opus-4-6")).toMatchObject({ usedUsd: 42, from: "2026-11-16", to: "2026-11-22" });
    expect(found.get("model none")).toMatchObject({ usedUsd: 0, state: "on track" });
    await assignDevice(core, robot.deviceId, ada.id, COMMAND_LINE);
    expect((await budgetStandings(core, team)).find(({ scope }) => scope === "person")).toMatchObject({ usedUsd: 42 });
  });

  it("is measured while others get their turn between budgets, also those never measured before", async () => {
    const { t, core, device } = await startWithDevice();
    const team = device.team.id;
    await spend(t, device, 30);
    for (let i = 0; i < 10; i++)
      await setBudget(core, team, { ...whole, scope: "repo", subject: `repo-${i}`, amountUsd: 10 }, COMMAND_LINE);
    await setBudget(core, team, { ...whole, amountUsd: 100 }, COMMAND_LINE);
    const { turns, done } = await turnsOfOthers(core, () => budgetStandings(core, team));
    expect(done.map(({ usedUsd }) => usedUsd)).toEqual([30, ...Array<number>(10).fill(0)]);
    expect(turns).toBeGreaterThan(9);
  });

  it("records each threshold once a period, with the audit, however often it is looked", async () => {
    const { t, core, device } = await startWithDevice();
    const team = device.team.id;
    const { id } = await setBudget(core, team, { ...whole, amountUsd: 100 }, COMMAND_LINE);
    const reached = () =>
      t.rows("SELECT threshold FROM budget_crossings ORDER BY day, threshold").map((row) => row.threshold);
    const told = () =>
      t.rows("SELECT target_id AS id FROM audit_events WHERE action = 'budget.reached'").map((row) => row.id);
    await spend(t, device, 79.99);
    await checkBudgets(core);
    expect([reached(), told()]).toEqual([[], []]);
    await spend(t, device, 0.012);
    await Promise.all([checkBudgets(core), checkBudgets(core)]);
    expect([reached(), told()]).toEqual([[80], [id]]);
    await spend(t, device, 300);
    await checkBudgets(core);
    await checkBudgets(core);
    expect([reached(), told()]).toEqual([
      [80, 100],
      [id, id],
    ]);
    t.clock.advance(15 * DAY_MS);
    await checkBudgets(core);
    expect((await budgetStandings(core, team))[0]).toMatchObject({ usedUsd: 0, from: "2026-12-01", reached: [] });
    await spend(t, device, 90);
    await checkBudgets(core);
    expect(reached()).toEqual([80, 100, 80]);
    await removeBudget(core, team, id, COMMAND_LINE);
    expect([t.count("budgets"), t.count("budget_crossings")]).toEqual([0, 0]);
    await expect(removeBudget(core, team, id, COMMAND_LINE)).rejects.toThrow("no such budget");
  });

  it("is reported for a day after its period, unless it was made or changed since", async () => {
    const { t, core, device } = await startWithDevice({ settings: { outbound: "hooks.example.com" } });
    const team = device.team.id;
    const told = () => t.rows("SELECT data FROM notices ORDER BY id").map((row) => JSON.parse(row.data));
    await setBudget(core, team, { ...whole, amountUsd: 100 }, COMMAND_LINE);
    await setBudget(core, team, { ...whole, scope: "repo", subject: "shop", amountUsd: 1_000 }, COMMAND_LINE);
    await spend(t, device, 60);
    await checkBudgets(core);
    // 1 December, 00:00:10 UTC: what was spent the evening before arrives.
    t.clock.advance(Date.UTC(2026, 11, 1, 0, 0, 10) - t.clock.now());
    await spend(t, device, 25, "shop", 0.1);
    await setBudget(core, team, { ...whole, scope: "repo", subject: "shop", amountUsd: 10 }, COMMAND_LINE);
    await setBudget(core, team, { ...whole, scope: "model", subject: "claude-opus-4-6", amountUsd: 10 }, COMMAND_LINE);
    await checkBudgets(core);
    await checkBudgets(core);
    const period = { period: "month", from: "2026-11-01", to: "2026-11-30", ended: true };
    expect(told()).toEqual([{ budget: "The team's budget", percent: 80, limit: 100, currency: "USD", ...period }]);
    expect((await budgetStandings(core, team)).map(({ reached }) => reached)).toEqual([[], [], []]);
    t.clock.advance(DAY_MS);
    await spend(t, device, 25, "shop", 1.5);
    await checkBudgets(core);
    expect(told()).toHaveLength(1);
    await spend(t, device, 80, "shop");
    await checkBudgets(core);
    expect(told().map(({ percent, from, ended }) => [percent, from, ended])).toContainEqual([80, "2026-12-01", false]);
  });

  it("is reported anew when its amount is raised beyond what was reached, and replaced rather than doubled", async () => {
    const { t, core, device } = await startWithDevice();
    const team = device.team.id;
    await setBudget(core, team, { ...whole, amountUsd: 10 }, COMMAND_LINE);
    await spend(t, device, 9);
    await checkBudgets(core);
    for (const thresholds of [
      [50, 50, 90],
      [90, 50],
    ])
      await setBudget(core, team, { ...whole, amountUsd: 20, thresholds }, COMMAND_LINE);
    // Setting the same values again is no change, so it is not recorded.
    expect(t.count("audit_events WHERE action = 'budget.set'")).toBe(2);
    await checkBudgets(core);
    expect(await budgetStandings(core, team)).toMatchObject([{ amountUsd: 20, thresholds: [50, 90], reached: [] }]);
    await spend(t, device, 1);
    await checkBudgets(core);
    expect(await budgetStandings(core, team)).toMatchObject([{ reached: [50] }]);
  });

  it("reports no amount that was raised or removed while its use was being measured", async () => {
    const { t, core, device } = await startWithDevice({ settings: { outbound: "hooks.example.com" } });
    const team = device.team.id;
    await setBudget(core, team, { ...whole, amountUsd: 10 }, COMMAND_LINE);
    const { id } = await setBudget(
      core,
      team,
      { ...whole, scope: "repo", subject: "shop", amountUsd: 10 },
      COMMAND_LINE,
    );
    await spend(t, device, 12);
    const looked = checkBudgets(core);
    await Promise.all([
      setBudget(core, team, { ...whole, amountUsd: 100 }, COMMAND_LINE),
      removeBudget(core, team, id, COMMAND_LINE),
      looked,
    ]);
    expect([t.count("budget_crossings"), t.count("notices")]).toEqual([0, 0]);
    expect(t.count("audit_events WHERE action = 'budget.reached'")).toBe(0);
  });

  it("is reported outside without the name of its person, and is erased with its repository", async () => {
    const { t, core, device } = await startWithDevice({ settings: { outbound: "hooks.example.com" } });
    const team = device.team.id;
    const ada = await makeAccount(core, { email: "ada@example.com", team: { id: team, role: "member" } });
    await assignDevice(core, device.deviceId, ada.id, COMMAND_LINE);
    for (const of of [
      { scope: "person", subject: ada.id },
      { scope: "repo", subject: "shop" },
    ] as const)
      await setBudget(core, team, { ...whole, ...of, amountUsd: 10, thresholds: [100] }, COMMAND_LINE);
    await spend(t, device, 12);
    await checkBudgets(core);
    const told = t.rows("SELECT data ->> 'budget' AS budget, repo_key AS repo, data FROM notices ORDER BY id");
    expect(told).toMatchObject([
      { budget: "A person's budget", repo: null },
      { budget: "shop", repo: "shop" },
    ]);
    expect(JSON.stringify(told)).not.toContain(ada.id);
  });

  it("refuses invalid amounts and thresholds, and more than a hundred budgets", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const { id } = await t.team();
    for (const amountUsd of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e9])
      await expect(setBudget(core, id, { ...whole, amountUsd }, COMMAND_LINE)).rejects.toThrow("amount");
    for (const thresholds of [[], [0], [1.5], [5_000], [1, 2, 3, 4, 5, 6]])
      await expect(setBudget(core, id, { ...whole, amountUsd: 1, thresholds }, COMMAND_LINE)).rejects.toThrow(
        "Thresholds",
      );
    await expect(
      setBudget(core, id, { ...whole, scope: "repo", subject: "x".repeat(2_000), amountUsd: 1 }, COMMAND_LINE),
    ).rejects.toThrow();
    for (let i = 0; i < 100; i++)
      await setBudget(core, id, { ...whole, scope: "repo", subject: `r${i}`, amountUsd: 1 }, COMMAND_LINE);
    await expect(setBudget(core, id, { ...whole, amountUsd: 1 }, COMMAND_LINE)).rejects.toThrow("at most");
    expect(t.count("budgets")).toBe(100);
  });
});

describe("a forecast", () => {
  const month = spanAt("month", Date.parse("2026-11-16T00:00:00Z"));
  const at = (text: string) => Date.parse(`${text}T00:00:00Z`);
  const onWorkdays = (usd: number) => (one: number) => ([2, 3].includes(one % 7) || one >= day("2026-11-16") ? 0 : usd);

  it("goes on at the rate of working days, and says when the amount is reached", () => {
    expect(month).toEqual({ first: day("2026-11-01"), last: day("2026-11-30") });
    // Ten working days are over and eleven are left; nobody worked at weekends.
    expect(forecast("month", month, at("2026-11-16"), 1_000, onWorkdays(10))).toEqual({ usd: 210, exceedsOn: null });
    const over = forecast("month", month, at("2026-11-16"), 125, onWorkdays(10));
    expect(over).toEqual({ usd: 210, exceedsOn: day("2026-11-18") });
  });

  it("says nothing while it is too early, and nothing of a day once the amount is used up", () => {
    expect(forecast("month", month, at("2026-11-04"), 10, onWorkdays(10)).usd).toBe(null);
    expect(forecast("month", month, at("2026-11-16"), 50, onWorkdays(10))).toMatchObject({ exceedsOn: null });
    expect(spanAt("week", at("2026-11-22"))).toEqual({ first: day("2026-11-16"), last: day("2026-11-22") });
    expect(spanAt("week", at("2026-11-23"))).toEqual({ first: day("2026-11-23"), last: day("2026-11-29") });
  });
});
