import { describe, expect, it } from "vitest";
import { countDevices, createFleetCodes, listOpenCodes, revokeCode } from "../../src/identity/devices/devices.ts";
import { DAY_MS, HOUR_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { startInstance, startWithTeam } from "../support/instance.ts";

const consent = { version: "2026-01", deviceLabel: "build agent" };
const PATH = "/api/connect/exchange";

describe("connectExchange", () => {
  it("binds a device and answers with its token and the team's licence", async () => {
    const t = await startInstance();
    const team = await t.team({ name: "Acme", seats: 7 });
    const answer = await t.post(PATH, { json: { code: await t.code(team), consent } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.body).toMatchObject({
      teamId: team.id,
      teamName: "Acme",
      status: "active",
      seatCount: 7,
      consentVersion: "2026-01",
    });
    expect(answer.body.deviceToken).toMatch(/^rkd_[0-9A-Za-z]{36}$/);
    expect(answer.body.deviceTokenExpiresAt).toBe("2027-02-19T08:00:00.000Z");
    expect(answer.body.license.split(".")).toHaveLength(3);
    expect(t.rows("SELECT label, consent_version FROM devices")).toEqual([
      { label: "build agent", consent_version: "2026-01" },
    ]);
    expect(t.rows("SELECT consumed_at FROM connect_codes")[0].consumed_at).toBe(t.clock.now());
  });

  it("counts only refused codes against an address, so that a whole fleet behind one can connect", async () => {
    const t = await startInstance();
    const team = await t.team({ name: "Acme", seats: 100 });
    const [fleet] = await createFleetCodes(
      t.instance.core,
      team.id,
      {
        count: 1,
        uses: 40,
        lifetimeMs: DAY_MS,
        bindsForMs: null,
      },
      COMMAND_LINE,
    );
    const ask = async (code: string) => (await t.post(PATH, { json: { code, consent } })).status;
    const right = fleet?.code as string;
    for (let i = 0; i < 15; i++) expect(await ask(right)).toBe(200);
    for (let i = 0; i < 9; i++) expect(await ask("7F3K-9QWX-2B4M-H8TZ-5RCD-1VNP")).toBe(404);
    expect(await ask(right)).toBe(200);
    expect(await ask("7F3K-9QWX-2B4M-H8TZ-5RCD-1VNP")).toBe(404);
    const refused = await t.post(PATH, { json: { code: right, consent } });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("ratelimit-policy")).toBe("exchange;q=10;w=60");
    expect(t.rows("SELECT count(*) AS n FROM devices")).toEqual([{ n: 16 }]);
  });

  it("stores neither the code nor the token, only their digests", async () => {
    const t = await startInstance();
    const code = await t.code(await t.team());
    const { body } = await t.post(PATH, { json: { code, consent } });
    const stored = JSON.stringify([
      t.rows("SELECT * FROM connect_codes"),
      t.rows("SELECT * FROM device_tokens"),
      t.log,
    ]);
    expect(stored).not.toContain(body.deviceToken);
    expect(stored).not.toContain(code.replaceAll("-", ""));
  });

  it.each([
    ["in lower case", (code: string) => code.toLowerCase()],
    ["without dashes", (code: string) => code.replaceAll("-", "")],
    ["with spaces", (code: string) => ` ${code.replaceAll("-", " ")} `],
    ["with the letters O and I for the digits", (code: string) => code.replaceAll("0", "O").replaceAll("1", "I")],
  ])("takes a code typed %s", async (_, typed) => {
    const t = await startInstance();
    expect((await t.post(PATH, { json: { code: typed(await t.code(await t.team())), consent } })).status).toBe(200);
  });

  it("answers 404 for codes that are unknown or could not be codes", async () => {
    const t = await startInstance({ settings: { limitExchange: "off" } });
    for (const code of ["7F3K-9QWX-2B4M-H8TZ-5RCD-1VNP", "nope", "../../etc", "💥".repeat(20)])
      expect((await t.post(PATH, { json: { code, consent } })).status).toBe(404);
  });

  it("answers 404 when the code's team is gone", async () => {
    const { t, team } = await startWithTeam();
    const code = await t.code(team);
    t.instance.core.store.db.prepare("DELETE FROM teams WHERE id = ?").run(team.id);
    expect((await t.post(PATH, { json: { code, consent } })).status).toBe(404);
  });

  it("says of a used and of an expired code which it is", async () => {
    const { t, team } = await startWithTeam();
    const used = await t.code(team);
    await t.post(PATH, { json: { code: used, consent } });
    const again = await t.post(PATH, { json: { code: used, consent } });
    expect([again.status, again.body.error]).toEqual([400, expect.stringContaining("used")]);
    const late = await t.code(team);
    t.clock.advance(15 * 60_000);
    const expired = await t.post(PATH, { json: { code: late, consent } });
    expect([expired.status, expired.body.error]).toEqual([400, expect.stringContaining("expired")]);
    expect(t.count("devices")).toBe(1);
  });

  it.each([
    ["no consent", { consent: undefined }],
    ["consent without a version", { consent: { deviceLabel: "x" } }],
    ["an empty version", { consent: { version: "" } }],
    ["a label of another type", { consent: { version: "1", deviceLabel: 7 } }],
    ["a label with control characters", { consent: { version: "1", deviceLabel: "a\u0000b" } }],
    ["an empty code", { code: "" }],
    ["a code of another type", { code: 1234 }],
  ])("refuses %s and leaves the code unused", async (_, change) => {
    const t = await startInstance();
    const code = await t.code(await t.team());
    expect((await t.post(PATH, { json: { code, consent, ...change } })).status).toBe(400);
    expect((await t.post(PATH, { json: { code, consent } })).status).toBe(200);
  });

  it("lets exactly as many of fifty parallel exchanges win as a fleet's code has uses, with each device's label and no person", async () => {
    const { t, team } = await startWithTeam({ settings: { limitExchange: "off" } });
    const how = { count: 1, uses: 7, lifetimeMs: DAY_MS, bindsForMs: null };
    const [made] = await createFleetCodes(t.instance.core, team.id, how, COMMAND_LINE);
    const ask = (_: unknown, i: number) =>
      t.post(PATH, { json: { code: made?.code, consent: { version: "1", deviceLabel: `build ${i}` } } });
    const answers = await Promise.all(Array.from({ length: 50 }, ask));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(7);
    expect(won.every(({ body }) => body.person === null)).toBe(true);
    const lost = answers.filter(({ status }) => status !== 200);
    expect(lost.every(({ status, body }) => status === 400 && body.error.includes("used already"))).toBe(true);
    const labels = t.rows("SELECT label FROM devices WHERE person_id IS NULL").map(({ label }) => label);
    expect(labels.sort()).toEqual(
      Array.from({ length: 50 }, (_, i) => `build ${i}`)
        .filter((_, i) => answers[i]?.status === 200)
        .sort(),
    );
    expect(t.rows("SELECT uses, used, consumed_at AS at, device_id AS device FROM connect_codes")).toEqual([
      { uses: 7, used: 7, at: t.clock.now(), device: null },
    ]);
    expect([t.count("devices"), t.count("device_tokens")]).toEqual([7, 7]);
  });

  it("binds machines of one job for the code's time, which rotation does not extend, and frees their seats afterwards", async () => {
    const { t, core, team } = await startWithTeam();
    const how = { count: 1, uses: 2, lifetimeMs: 30 * DAY_MS, bindsForMs: 6 * HOUR_MS };
    const [made] = await createFleetCodes(core, team.id, how, COMMAND_LINE);
    const ask = () => t.post(PATH, { json: { code: made?.code, consent } });
    const first = (await ask()).body;
    expect(first.deviceTokenExpiresAt).toBe("2026-11-21T14:00:00.000Z");
    t.clock.advance(5 * HOUR_MS);
    const again = (await t.post("/api/connect/rotate", { token: first.deviceToken })).body;
    expect(again.expiresAt).toBe("2026-11-21T14:00:00.000Z");
    const entries = { json: { entries: [{ seq: 1, payload: {} }] }, token: again.deviceToken };
    expect((await t.post("/api/telemetry/ingest", entries)).status).toBe(200);
    expect(countDevices(core, team.id, 0)).toEqual({ all: 1, active: 1, seen: 1 });
    t.clock.advance(HOUR_MS);
    expect((await t.post("/api/telemetry/ingest", entries)).status).toBe(401);
    expect((await t.post("/api/connect/rotate", { token: again.deviceToken })).body.reason).toBe("token_expired");
    expect(countDevices(core, team.id, 0)).toEqual({ all: 1, active: 0, seen: 0 });
    expect((await ask()).body.deviceTokenExpiresAt).toBe("2026-11-21T20:00:00.000Z");
    expect(t.count("telemetry_streams")).toBe(1);
  });

  it("counts a fleet code's uses down, until it is revoked or expires", async () => {
    const { t, core, team } = await startWithTeam({ settings: { limitExchange: "off" } });
    const [one, two] = await createFleetCodes(
      core,
      team.id,
      {
        count: 2,
        uses: 5,
        lifetimeMs: 30 * DAY_MS,
        bindsForMs: null,
      },
      COMMAND_LINE,
    );
    const exchange = (code: string | undefined) => t.post(PATH, { json: { code, consent } });
    await exchange(one?.code);
    t.clock.advance(29 * DAY_MS);
    await exchange(one?.code);
    const left = () => listOpenCodes(core, team.id).map(({ id, uses, used }) => [id, uses - used]);
    expect(left().sort()).toEqual(
      [
        [one?.id, 3],
        [two?.id, 5],
      ].sort(),
    );
    expect(await revokeCode(core, team.id, one?.id ?? "", COMMAND_LINE)).toBe(true);
    const revoked = await exchange(one?.code);
    expect([revoked.status, revoked.body.error]).toEqual([400, expect.stringContaining("expired")]);
    t.clock.advance(DAY_MS);
    expect((await exchange(two?.code)).body.error).toContain("expired");
    expect([left(), t.count("devices")]).toEqual([[], 2]);
  });

  it("binds without a licence when the team has none or signing is off", async () => {
    const t = await startInstance({ settings: { signing: "off" } });
    const answer = await t.post(PATH, { json: { code: await t.code(await t.team()), consent } });
    expect([answer.status, answer.body.license]).toEqual([200, null]);
  });

  it("removes characters from the label that reverse the text around them", async () => {
    const t = await startInstance();
    for (const deviceLabel of ["Ada\u2019s \u202epotpal", "\u202e"])
      await t.post(PATH, { json: { code: await t.code(await t.team()), consent: { version: "1", deviceLabel } } });
    expect(t.rows("SELECT label FROM devices ORDER BY rowid").map(({ label }) => label)).toEqual([
      "Ada\u2019s potpal",
      null,
    ]);
  });

  it("takes a secret out of the label before it is stored", async () => {
    const t = await startInstance();
    const secret = `ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}`;
    await t.post(PATH, {
      json: { code: await t.code(await t.team()), consent: { version: "1", deviceLabel: `agent ${secret}` } },
    });
    expect(t.rows("SELECT label FROM devices")[0].label).toMatch(/^agent \[REDACTED:[\w-]+\]$/);
  });
});
