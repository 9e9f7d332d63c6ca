import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { assignDevice } from "../../src/identity/devices/devices.ts";
import { createUser } from "../../src/identity/sign-in/sign-in.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";
import { command } from "../support/remote.ts";

const spend = (t: TestInstance, ...args: string[]) => command(["spend", "--data", t.directory, ...args]);

/** An instance with a team of two models' usage on one day. @param at an instant of it */
async function running(at = "2026-11-20T10:00:00Z") {
  const t = await startInstance();
  t.clock.jump(Date.parse(at) + DAY_MS - t.clock.now());
  const device = await t.device(await t.team({ name: "Acme" }));
  const payloads = [
    {
      model: "claude-opus-4-6",
      branch: "main",
      usage: { input_tokens: 1_000_000, output_tokens: 2_000 },
      costUsd: 5.25,
    },
    { model: "own,\u0007model", branch: "=1+1", usage: { input_tokens: 700, output_tokens: 3 } },
  ];
  const entries = payloads.map((payload, i) => ({ seq: i + 1, payload, clientTimestamp: at }));
  expect(
    (await t.post("/api/telemetry/ingest", { token: device.token, json: { repoKey: "shop", entries } })).status,
  ).toBe(200);
  return { t, device };
}
const DAYS = ["--since", "2026-11-19", "--until", "2026-11-21"];

describe("reckon spend", () => {
  it("prints what was used beside a running server, and by which prices", async () => {
    const { t, device } = await running();
    const done = await spend(t, ...DAYS, "--json");
    expect([done.code, done.stderr]).toEqual([
      0,
      "2026-11-19 to 2026-11-21 (UTC); list prices of 2026-11-06.\n703 tokens are of models whose price is not known: give one in prices.json.\n",
    ]);
    expect(JSON.parse(done.stdout)).toMatchObject({
      teamId: device.team.id,
      since: "2026-11-19",
      until: "2026-11-21",
      by: "model",
      currency: "USD",
      priceTable: { date: "2026-11-06", overridden: false },
      total: {
        usd: 5.05,
        reportedUsd: 5.25,
        inputTokens: 1_000_700,
        outputTokens: 2_003,
        unpricedTokens: 703,
        usages: 2,
      },
      groups: [
        { key: "claude-opus-4-6", usd: 5.05 },
        // A name with a control character does not count as a name.
        { key: "", usd: null, unpricedTokens: 703 },
      ],
    });
  });

  it("prints lines for a pipe, with the word unpriced where there is no price", async () => {
    const { t } = await running();
    const { stdout } = await spend(t, ...DAYS, "--by", "branch");
    expect(stdout.split("\n").map((line) => line.split("\t").slice(0, 4))).toEqual([
      ["main", "5.05", "5.25", "1000000"],
      ["=1+1", "unpriced", "-", "700"],
      ["total", "5.05", "5.25", "1000700"],
      [""],
    ]);
    expect((await spend(t, "--since", "2026-11-21", "--until", "2026-11-21")).stdout).toBe("");
    expect((await spend(t, ...DAYS, "--repo", "till")).stdout).toBe("");
  });

  it("prints small sums to three digits, which two decimals would round away", async () => {
    const { t, device } = await running();
    const usage = { input_tokens: 3_500 };
    const entries = [{ seq: 3, payload: { model: "claude-opus-4-6", branch: "small", usage } }];
    await t.post("/api/telemetry/ingest", { token: device.token, json: { repoKey: "till", entries } });
    const { stdout } = await spend(t, "--repo", "till", "--since", "2026-11-19");
    expect(stdout.split("\t").slice(0, 4)).toEqual(["claude-opus-4-6", "0.0175", "-", "3500"]);
  });

  it("prints comma-separated values that no spreadsheet takes for a formula", async () => {
    const { t, device } = await running();
    const exports = () =>
      t.rows("SELECT actor_kind AS kind, team_id AS team, detail FROM audit_events WHERE action = 'spend.exported'");
    const { stdout } = await spend(t, ...DAYS, "--by", "branch", "--csv");
    expect(exports()).toEqual([
      {
        kind: "command",
        team: device.team.id,
        detail: '{"by":"branch","firstDay":"2026-11-19","lastDay":"2026-11-21"}',
      },
    ]);
    expect(stdout).toBe(
      [
        "branch,usd,reportedUsd,inputTokens,outputTokens,cacheWriteTokens,cacheReadTokens,unpricedTokens,usages",
        "main,5.05,5.25,1000000,2000,0,0,0,1",
        "'=1+1,,,700,3,0,0,703,1",
        "",
      ].join("\r\n"),
    );
  });

  it("says that there is nothing, in a pipe too", async () => {
    const { t } = await running();
    const done = await spend(t, "--since", "2026-11-01", "--until", "2026-11-02");
    expect(done).toMatchObject({ code: 0, stdout: "", stderr: "No usage from 2026-11-01 to 2026-11-02 (UTC).\n" });
  });

  it("prints one form at a time", async () => {
    const { t } = await running();
    const done = await spend(t, ...DAYS, "--json", "--csv");
    expect([done.code, done.stdout, done.stderr.includes("cannot be used with option '--json'")]).toEqual([
      2,
      "",
      true,
    ]);
  });

  it("sums by person and narrows to one, whose the machines are now", async () => {
    const { t, device } = await running();
    const other = await t.device(device.team);
    const entries = [
      {
        seq: 1,
        payload: { model: "claude-opus-4-6", usage: { input_tokens: 1_000, output_tokens: 10 } },
        clientTimestamp: "2026-11-20T10:00:00Z",
      },
    ];
    await t.post("/api/telemetry/ingest", { token: other.token, json: { repoKey: "shop", entries } });
    const { core } = t.instance;
    const account = { email: "ann@acme.example", password: "plough-the-north-field" };
    const ann = await createUser(core, { ...account, team: { id: device.team.id, role: "member" } }, COMMAND_LINE);
    await assignDevice(core, device.deviceId, ann.id, COMMAND_LINE);
    const byPerson = await spend(t, ...DAYS, "--by", "person", "--json");
    expect(JSON.parse(byPerson.stdout).groups).toMatchObject([
      { key: "ann@acme.example", personId: ann.id, usages: 2 },
      { key: "", usages: 1 },
    ]);
    const ofAnn = await spend(t, ...DAYS, "--person", "ANN@acme.example", "--json");
    expect(JSON.parse(ofAnn.stdout).total).toMatchObject({ inputTokens: 1_000_700, usages: 2 });
    const nobody = await spend(t, ...DAYS, "--person", "eve@acme.example");
    expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining("no account")]);
  });

  it("gives days in their order", async () => {
    const { t, device } = await running();
    const entries = [{ seq: 9, payload: { usage: { input_tokens: 5 } }, clientTimestamp: "2026-11-19T10:00:00Z" }];
    await t.post("/api/telemetry/ingest", { token: device.token, json: { repoKey: "shop", entries } });
    const { stdout } = await spend(t, ...DAYS, "--by", "day", "--csv");
    expect(stdout.split("\r\n").map((line) => line.split(",")[0])).toEqual(["day", "2026-11-19", "2026-11-20", ""]);
  });

  it("takes the data directory's own prices, and refuses wrong ones by name", async () => {
    const { t } = await running();
    const path = join(t.directory, "prices.json");
    writeFileSync(path, '{"date":"2026-11-01","models":{"claude-opus-4-6":{"input":1,"output":1}}}');
    const done = await spend(t, ...DAYS, "--json");
    expect(JSON.parse(done.stdout).total.usd).toBe(1.002);
    expect(done.stderr).toContain("list prices of 2026-11-01, of prices.json in the data directory.");
    writeFileSync(path, '{"date":"2026-11-01","models":{"claude-opus-4-6":{"input":1}}}');
    const wrong = await spend(t, ...DAYS);
    expect([wrong.code, wrong.stdout]).toEqual([1, ""]);
    expect(wrong.stderr).toContain('reckon: prices.json["models"]["claude-opus-4-6"]["output"] is missing');
    // The server may know better prices than those that ship with this process, so no budgets are told.
    const listed = await command(["budget", "list", "--team", "Acme", "--data", t.directory]);
    expect([listed.code, listed.stdout, listed.stderr]).toEqual([1, "", expect.stringContaining("prices.json[")]);
  });

  it("sets a budget of what nobody used yet, and says that its name may be mistyped", async () => {
    // Commands go by the machine's clock.
    const { t } = await running(new Date(Date.now() - DAY_MS).toISOString());
    const set = (...what: string[]) =>
      command(["budget", "set", "--team", "Acme", "--usd", "5", ...what, "--data", t.directory]);
    for (const what of [["--repo", "shop"], ["--model", "claude-opus-4-6"], []])
      expect([what, await set(...what)]).toEqual([
        what,
        { code: 0, stdout: expect.stringContaining("$5.00"), stderr: "" },
      ]);
    for (const [kind, name] of [
      ["repo", "shpo"],
      ["model", "opus"],
    ] as const)
      expect(await set(`--${kind}`, name)).toEqual({
        code: 0,
        stdout: expect.stringContaining("$5.00 a month"),
        stderr: `Nothing was used of the ${kind} "${name}" in a year: see whether that is its name.\n`,
      });
    expect(t.rows("SELECT subject FROM budgets ORDER BY subject").map(({ subject }) => subject)).toEqual([
      "",
      "claude-opus-4-6",
      "opus",
      "shop",
      "shpo",
    ]);
  });

  it("asks which team is meant where there are several, and refuses what is no day", async () => {
    const { t } = await running();
    await t.team({ name: "Other" });
    const unclear = await spend(t);
    expect([unclear.code, unclear.stderr]).toEqual([1, "reckon: There are 2 teams: name one with --team.\n"]);
    expect(JSON.parse((await spend(t, ...DAYS, "--team", "Acme", "--json")).stdout).total.usages).toBe(2);
    expect(JSON.parse((await spend(t, ...DAYS, "--team", "Other", "--json")).stdout).total).toMatchObject({
      usd: null,
      usages: 0,
    });
    for (const args of [
      ["--since", "soon"],
      ["--until", "30d"],
      ["--by", "colour"],
    ])
      expect((await spend(t, "--team", "Acme", ...args)).code, args.join(" ")).toBe(2);
    expect((await spend(t, "--team", "Acme", "--since", "2026-11-02", "--until", "2026-11-01")).code).toBe(2);
  });
});
