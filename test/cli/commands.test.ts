import { execFileSync, spawn, spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { HOUR_MS } from "../../src/kit/clock.ts";
import { CURRENT_SCHEMA } from "../../src/platform/store/migrate.ts";
import { serve } from "../faults/support/process.ts";
import { alterEntries } from "../support/entries.ts";
import { newFolder } from "../support/folder.ts";
import { MAIN } from "../support/program.ts";
import { command, commandJson, ran } from "../support/remote.ts";

const json = (data: string, ...args: string[]) => commandJson([...args, "--data", data]);

/** Makes an account. */
async function userIn(data: string, email: string, team?: string) {
  const where = team === undefined ? [] : ["--team", team];
  const args = ["user", "create", email, ...where, "--password-stdin", "--data", data, "--json"];
  return JSON.parse((await command(args, { input: "plough-the-north-field" })).stdout);
}

describe("teams, codes and devices", () => {
  it("go from an empty directory to a bound device and back, all from the command line", async () => {
    const data = join(newFolder(), "data");
    const team = await json(data, "team", "create", "Acme", "--tier", "enterprise", "--seats", "9");
    expect(team).toMatchObject({
      teamId: expect.stringMatching(/^team_/),
      name: "Acme",
      tier: "enterprise",
      seatCount: 9,
      status: "active",
    });
    expect((await json(data, "team", "list")).map((one: { name: string }) => one.name)).toEqual(["Acme"]);
    const changed = await json(
      data,
      "team",
      "set",
      "Acme",
      "--subscription",
      "past_due",
      "--period-end",
      "2026-12-31",
      "--tier",
      "team",
    );
    expect(changed).toMatchObject({ tier: "team", status: "past_due", periodEndsAt: "2026-12-31T00:00:00.000Z" });
    expect(changed).toMatchObject({ membersBind: true });
    expect(await json(data, "team", "show", team.teamId)).toEqual(changed);
    expect(await json(data, "team", "set", "Acme", "--period-end", "none")).toEqual({ ...changed, periodEndsAt: null });
    await json(data, "team", "set", "Acme", "--period-end", "2026-12-31T00:00:00Z");
    expect(await json(data, "team", "set", "Acme", "--members-bind", "false")).toEqual({
      ...changed,
      membersBind: false,
    });

    const code = await json(data, "code", "create", "--team", "Acme", "--expires", "2h");
    expect(code).toMatchObject({ teamId: team.teamId, code: expect.stringMatching(/^(?:[0-9A-Z]{4}-){5}/) });
    const fleet = ["code", "create", "--team", "Acme", "--count", "2", "--uses", "9", "--expires", "30d"];
    const printed = await command([...fleet, "--csv", "--data", data]);
    const [head, ...lines] = printed.stdout.trim().split("\r\n");
    expect([head, lines.length]).toEqual(["code,id,uses,expiresAt,teamId", 2]);
    const [first = "", firstId = "", uses] = (lines[0] ?? "").split(",");
    expect([first, uses]).toEqual([expect.stringMatching(/^(?:[0-9A-Z]{4}-){5}/), "9"]);
    expect(await json(data, ...fleet)).toMatchObject([{ uses: 9 }, { uses: 9 }]);
    const jobs = ["code", "create", "--team", "Acme", "--uses", "500", "--expires", "90d", "--ephemeral"];
    expect(await json(data, ...jobs, "6h")).toMatchObject({ uses: 500, bindsForMs: 6 * HOUR_MS });
    for (const wrong of ["59s", "8d"]) expect((await command([...jobs, wrong, "--data", data])).code).toBe(2);
    const codes = await json(data, "code", "list", "--team", "Acme");
    expect(codes.map((one: { usesLeft: number }) => one.usesLeft)).toEqual([500, 9, 9, 9, 9, 1]);
    expect(await json(data, "code", "revoke", codes[0].id, "--team", "Acme")).toEqual({ revoked: [codes[0].id] });
    expect(await json(data, "code", "revoke", firstId, "--team", "Acme")).toEqual({ revoked: [firstId] });
    const again = await command(["code", "revoke", firstId, "--team", "Acme", "--data", data]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("no open code")]);
    expect(await json(data, "code", "list", "--team", "Acme")).toHaveLength(4);

    const server = await serve(data);
    onTestFinished(async () => void (await server.end()));
    const exchange = await fetch(`${server.url}/api/connect/exchange`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code: code.code, consent: { version: "1", deviceLabel: "laptop\u0009".trim() } }),
    });
    const { deviceToken, deviceId } = (await exchange.json()) as { deviceToken: string; deviceId: string };
    const policy = () => fetch(`${server.url}/api/policy`, { headers: { authorization: `Bearer ${deviceToken}` } });
    expect((await policy()).status).toBe(200);
    const ingest = async () => {
      const headers = { "content-type": "application/json", authorization: `Bearer ${deviceToken}` };
      return (await fetch(`${server.url}/api/telemetry/ingest`, { method: "POST", headers, body: '{"entries":[]}' }))
        .status;
    };
    for (const [tier, status] of [
      ["none", 402],
      ["starter", 200],
    ] as const) {
      expect(await json(data, "team", "set", "Acme", "--tier", tier)).toMatchObject({ tier });
      await expect.poll(ingest, { message: tier }).toBe(status);
    }
    expect(await json(data, "device", "list", "--team", "Acme")).toMatchObject([
      { deviceId, label: "laptop", status: "active", person: null, againstPolicy: 0, againstPolicyAt: null },
    ]);
    const { userId } = await userIn(data, "ada@example.com", "Acme");
    await userIn(data, "eve@example.com");
    expect(await json(data, "device", "assign", deviceId, "ada@example.com")).toEqual({
      deviceId,
      person: "ada@example.com",
      changed: true,
    });
    const ofAda = await json(data, "device", "list", "--person", "ada@example.com");
    expect(ofAda).toMatchObject([{ deviceId, person: { userId, email: "ada@example.com", name: null } }]);
    expect(await json(data, "device", "list", "--nobody")).toEqual([]);
    const stranger = await command(["device", "assign", deviceId, "eve@example.com", "--data", data]);
    expect([stranger.code, stranger.stderr]).toEqual([
      1,
      expect.stringContaining("the device's team: invite them there first"),
    ]);
    expect(await json(data, "device", "assign", deviceId, "--nobody")).toMatchObject({ person: null, changed: true });
    expect(await json(data, "device", "list", "--nobody")).toHaveLength(1);
    expect(await json(data, "device", "revoke", deviceId)).toMatchObject({
      deviceId,
      status: "revoked",
      changed: true,
    });
    expect((await policy()).status).toBe(401);
  });

  it("say what is wrong on stderr and exit 1, or 2 for wrong usage", async () => {
    const data = newFolder();
    await json(data, "team", "create", "Acme");
    const cases: [string[], number, RegExp][] = [
      [["team", "show", "Nobody"], 1, /no team .*"Nobody".*reckon team list/],
      [["team", "create", "Acme"], 1, /already/],
      [["team", "create", "A\u202ecme"], 1, /This name holds U\+202E/],
      [["api-token", "create", "--team", "Acme", "--name", "A\u202ecme"], 1, /This name holds U\+202E/],
      [["device", "revoke", "dev_x"], 1, /no device/],
      [["team", "create"], 2, /missing required argument/],
      [["team", "move", "Acme"], 2, /say --to ADDRESS, --cancel or --confirm/],
      [["ledger", "prove", "foo:1"], 2, /say what to prove as KIND:NUMBER, with .* for KIND: entry:12/],
      [["ledger", "prove", "entry", "x"], 2, /say what to prove as KIND:NUMBER/],
      [["restore", "a", "--from", "b"], 2, /name a file that reckon backup made, or a database with --from/],
      [["replica", "check"], 2, /say --restore-to DIR -- COMMAND/],
      [["webhook", "create", "--name", "x", "--to", "y"], 2, /say whose events it gets/],
      [["team", "set", "Acme"], 2, /name what to change/],
      [["team", "set", "Acme", "--tier", "gold"], 2, /none, starter, team, enterprise/],
      [["team", "set", "Acme", "--period-end", "2026-02-30"], 2, /must be a date such as 2026-12-31/],
      [["error", "snooze", "1", "--team", "Acme", "--until", "in 3 days"], 2, /must be a date such as 2026-12-31/],
      [["device", "assign", "dev_x"], 2, /--nobody/],
      [["device", "assign", "dev_x", "ada@example.com", "--nobody"], 2, /--nobody/],
      [["device", "assign", "dev_x", "--nobody"], 1, /no device/],
      [["code", "create", "--team", "Acme", "--expires", "soon"], 2, /15m/],
      [["code", "create", "--team", "Acme", "--expires", "2d"], 2, /only with --uses, --count or --ephemeral/],
      [["code", "create", "--team", "Acme", "--uses", "2", "--expires", "91d"], 2, /90 days/],
      [["code", "create", "--team", "Acme", "--uses", "0"], 2, /from 1 to/],
      [["code", "create", "--team", "Acme", "--count", "1001"], 2, /from 1 to 1000/],
      [["code", "create", "--team", "Acme", "--csv", "--json"], 2, /cannot be used with/],
      [["nonsense"], 2, /unknown command/],
      [["team", "list", "--nonsense"], 2, /unknown option/],
    ];
    for (const [args, code, says] of cases) {
      const done = await command([...args, "--data", data]);
      expect([args, done.code, done.stdout]).toEqual([args, code, ""]);
      expect(done.stderr).toMatch(says);
      expect(done.stderr).not.toMatch(/\n\s+at /);
    }
  });

  it("do not make a database by looking for one", async () => {
    const data = join(newFolder(), "none");
    const done = await command(["team", "list", "--data", data]);
    expect([done.code, existsSync(data)]).toEqual([1, false]);
    expect(done.stderr).toContain("there is no Reckon database");
  });

  it("print plain tab-separated lines into a pipe", async () => {
    const data = newFolder();
    const team = await json(data, "team", "create", "Acme");
    const done = await command(["team", "list", "--data", data]);
    expect(done.stdout).toBe(`${team.teamId}\tAcme\tteam\t5\tactive\n`);
  });
});

describe("licences", () => {
  it("verify with the public key alone: by us without a data directory, and by openssl", async () => {
    const home = newFolder();
    const data = join(home, "data");
    await json(data, "team", "create", "Acme", "--seats", "3");
    const file = join(home, "acme.lic");
    const pem = join(home, "pub.pem");
    await json(data, "license", "mint", "--team", "Acme", "--days", "10", "--out", file);
    const exported = await command(["key", "export", "--out", pem, "--data", data]);
    expect([exported.code, exported.stdout, exported.stderr]).toEqual([0, "", `Written to ${pem}.\n`]);
    rmSync(data, { recursive: true });

    const verified = await command(["license", "verify", file, "--pubkey", pem, "--json"]);
    expect(verified.code).toBe(0);
    expect(JSON.parse(verified.stdout)).toMatchObject({
      valid: true,
      claims: { seats: 3, tier: "team", status: "active" },
      reason: null,
    });

    const late = await command(["license", "verify", file, "--pubkey", pem, "--at", "2050-01-01", "--json"]);
    expect([late.code, JSON.parse(late.stdout)]).toMatchObject([
      1,
      { valid: false, reason: expect.stringContaining("expired") },
    ]);
    const early = await command(["license", "verify", file, "--pubkey", pem, "--at", "2020-01-01", "--json"]);
    expect([early.code, JSON.parse(early.stdout)]).toMatchObject([
      1,
      { valid: false, claims: { seats: 3 }, reason: expect.stringContaining("it was issued after that") },
    ]);

    const [head, body, signature = ""] = readFileSync(file, "utf8").trim().split(".");
    writeFileSync(join(home, "signed"), `${head}.${body}`);
    writeFileSync(join(home, "signature"), Buffer.from(signature, "base64url"));
    const openssl = (input: string) =>
      spawnSync("openssl", ["dgst", "-sha256", "-verify", pem, "-signature", join(home, "signature"), input], {
        encoding: "utf8",
      }).stdout;
    expect(openssl(join(home, "signed"))).toContain("Verified OK");
    writeFileSync(join(home, "forged"), `${head}.${body}x`);
    expect(openssl(join(home, "forged"))).not.toContain("Verified OK");
  });

  it("are refused with a reason when another key signed them, when they are no licence, and by stdin too", async () => {
    const home = newFolder();
    const one = join(home, "one");
    const two = join(home, "two");
    for (const data of [one, two]) await json(data, "team", "create", "Acme");
    await json(one, "license", "mint", "--team", "Acme", "--out", join(home, "one.lic"));
    await json(two, "key", "export", "--out", join(home, "two.pem"));
    const wrong = await command([
      "license",
      "verify",
      join(home, "one.lic"),
      "--pubkey",
      join(home, "two.pem"),
      "--json",
    ]);
    expect([wrong.code, JSON.parse(wrong.stdout)]).toMatchObject([
      1,
      { valid: false, reason: expect.stringContaining("signature") },
    ]);
    const rubbish = spawnSync(
      process.execPath,
      [MAIN, "license", "verify", "-", "--pubkey", join(home, "two.pem"), "--json"],
      { input: "not a licence", encoding: "utf8" },
    );
    expect([rubbish.status, JSON.parse(rubbish.stdout).valid]).toEqual([1, false]);
    const noKey = await command(["license", "verify", join(home, "one.lic"), "--pubkey", join(home, "one.lic")]);
    expect([noKey.code, noKey.stderr]).toEqual([1, expect.stringContaining("it holds no public key in PEM form")]);
    const pem = readFileSync(join(home, "two.pem"), "utf8");
    const elliptic = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({
      type: "spki",
      format: "pem",
    });
    for (const broken of [pem.replace(/[A-Za-z0-9+/]{64}\n/, ""), elliptic]) {
      writeFileSync(join(home, "broken.pem"), pem + broken);
      const done = await command(["license", "verify", join(home, "one.lic"), "--pubkey", join(home, "broken.pem")]);
      expect([done.code, done.stderr]).toEqual([1, expect.stringContaining("public key 2 of it cannot be read")]);
    }
  });

  it("are not minted for a team that may have none", async () => {
    const data = newFolder();
    await json(data, "team", "create", "Acme");
    await json(data, "team", "set", "Acme", "--suspended", "true");
    const done = await command(["license", "mint", "--team", "Acme", "--data", data]);
    expect([done.code, done.stdout, done.stderr]).toEqual([1, "", expect.stringContaining("suspended")]);
  });

  it("do not overwrite another one, unless that is asked for", async () => {
    const data = newFolder();
    await json(data, "team", "create", "Acme");
    const file = join(data, "acme.lic");
    writeFileSync(file, "an earlier one");
    const mint = (...more: string[]) =>
      command(["license", "mint", "--team", "Acme", "--out", file, "--data", data, ...more]);
    const refused = await mint("--json");
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      1,
      "",
      `reckon: ${file} exists already; --force replaces it\n`,
    ]);
    expect(readFileSync(file, "utf8")).toBe("an earlier one");
    const forced = await mint("--json", "--force");
    expect([forced.code, JSON.parse(forced.stdout)]).toMatchObject([0, { file }]);
    expect(readFileSync(file, "utf8")).toBe(`${JSON.parse(forced.stdout).license}\n`);
  });

  it("keep verifying after the signing key was rotated", async () => {
    const home = newFolder();
    const data = join(home, "data");
    await json(data, "team", "create", "Acme");
    await json(data, "license", "mint", "--team", "Acme", "--out", join(home, "old.lic"));
    await json(data, "key", "export", "--active", "--out", join(home, "old.pem"));
    await json(data, "key", "rotate");
    const keys = await json(data, "key", "show");
    expect(keys.map((key: { status: string }) => key.status)).toEqual(["active", "retired"]);
    expect(existsSync(join(data, "retired-keys", `${keys[1].kid}.pem`))).toBe(true);
    await json(data, "license", "mint", "--team", "Acme", "--out", join(home, "new.lic"));
    await json(data, "key", "export", "--out", join(home, "all.pem"));
    await json(data, "key", "export", "--active", "--out", join(home, "new.pem"));
    const verify = (licence: string, pem: string) =>
      command(["license", "verify", join(home, licence), "--pubkey", join(home, pem)]);
    for (const [licence, pem] of [
      ["old.lic", "old.pem"],
      ["old.lic", "all.pem"],
      ["new.lic", "all.pem"],
    ] as const)
      expect([licence, pem, (await verify(licence, pem)).code]).toEqual([licence, pem, 0]);
    // And as the documents say to do it where there is no reckon.
    const recipe = readFileSync(join(import.meta.dirname, "../../docs/air-gap.md"), "utf8")
      .split("## With openssl alone")[1]
      ?.match(/```sh\n(.*?)```/s)?.[1] as string;
    writeFileSync(join(home, "acme.lic"), readFileSync(join(home, "old.lic")));
    writeFileSync(join(home, "reckon.pem"), readFileSync(join(home, "all.pem")));
    const byHand = spawnSync("bash", ["-c", recipe], { cwd: home, encoding: "utf8" });
    expect(byHand.stdout.match(/Verified OK|Verification failure/gi)).toEqual(["Verification failure", "Verified OK"]);
    expect(byHand.stdout).toContain('"typ":"license+jwt"');
    const refused = await verify("old.lic", "new.pem");
    expect([refused.code, refused.stdout]).toEqual([
      1,
      `not valid: the signature is said to be of the key ${keys[1].kid}, which is not this public key (${keys[0].kid})\n`,
    ]);
    const server = await serve(data);
    onTestFinished(async () => void (await server.end()));
    const { keys: published } = (await (await fetch(`${server.url}/.well-known/jwks.json`)).json()) as {
      keys: { kid: string }[];
    };
    expect(published.map((key) => key.kid).sort()).toEqual(keys.map((key: { kid: string }) => key.kid).sort());
  });
});

describe("policies", () => {
  it("are set from a file and shown", async () => {
    const home = newFolder();
    const data = join(home, "data");
    await json(data, "team", "create", "Acme");
    expect((await json(data, "policy", "show", "--team", "Acme")).captureMode).toBe("redacted");
    writeFileSync(join(home, "policy.json"), '{"captureMode":"full","actions":{"requireApprovals":true}}');
    await json(data, "policy", "set", "--team", "Acme", "--file", join(home, "policy.json"));
    expect(await json(data, "policy", "show", "--team", "Acme")).toMatchObject({
      captureMode: "full",
      actions: { requireApprovals: true },
    });
    writeFileSync(join(home, "policy.json"), '{"captureMode":"everything"}');
    const bad = await command(["policy", "set", "--team", "Acme", "--file", join(home, "policy.json"), "--data", data]);
    expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining("captureMode")]);
  });
});

describe("safekeeping", () => {
  /** A directory with a team, a device and one delivery of each kind that is verified. */
  async function used(data: string) {
    await json(data, "team", "create", "Acme");
    const { code } = await json(data, "code", "create", "--team", "Acme");
    const server = await serve(data);
    const post = async (path: string, body: object, token?: string) => {
      const headers = { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) };
      const reply = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
      expect(reply.status).toBe(200);
      return (await reply.json()) as { deviceToken: string };
    };
    const { deviceToken } = await post("/api/connect/exchange", { code, consent: { version: "1" } });
    await post(
      "/api/telemetry/ingest",
      {
        entries: [
          { seq: 1, payload: { a: 1 } },
          { seq: 2, payload: { b: 2 } },
        ],
      },
      deviceToken,
    );
    await post("/api/brain/ingest", { version: 1, files: [{ path: "a.md", content: "# A" }] }, deviceToken);
    await post("/api/agent-traces/ingest", { sessions: [{ outcome: "ok", spans: [{}] }] }, deviceToken);
    return { server, deviceToken, post };
  }

  it("backs up beside a running server and restores database and key together, keeping aside what was there", async () => {
    const home = newFolder();
    const data = join(home, "data");
    const { server, deviceToken, post } = await used(data);
    const pubkey = await (await fetch(`${server.url}/api/license/pubkey`)).text();
    const file = join(home, "backup.db");
    expect(await json(data, "backup", file)).toMatchObject({ file, keys: 1, schema: CURRENT_SCHEMA.version });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await command(["backup", file, "--data", data])).stderr).toContain("exists already");
    await post("/api/telemetry/ingest", { entries: [{ seq: 3, payload: {} }] }, deviceToken);

    const running = await command(["restore", file, "--data", data]);
    expect([running.code, running.stderr]).toEqual([75, expect.stringContaining("in use")]);
    expect((await server.end()).code).toBe(0);
    expect(await json(data, "restore", file, "--verify")).toMatchObject({ teams: 1, deliveries: 3, keys: 1 });
    const restored = await json(data, "restore", file);
    expect(existsSync(join(restored.keptAside, "reckon.db"))).toBe(true);
    expect(statSync(join(data, "signing-key.pem")).mode & 0o777).toBe(0o600);

    const again = await serve(data);
    onTestFinished(async () => void (await again.end()));
    expect(await (await fetch(`${again.url}/api/license/pubkey`)).text()).toBe(pubkey);
    const reply = await fetch(`${again.url}/api/telemetry/ingest`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${deviceToken}` },
      body: JSON.stringify({ entries: [{ seq: 3, payload: {} }] }),
    });
    expect(await reply.json()).toMatchObject({ accepted: 1, maxSeq: 3 });
    expect(await json(data, "ledger", "verify")).toMatchObject({ deliveries: 4, faults: [] });
  });

  it("refuses to restore what is no backup, before it touches anything", async () => {
    const home = newFolder();
    const data = join(home, "data");
    await json(data, "team", "create", "Acme");
    writeFileSync(join(home, "text"), "not a database".repeat(1000));
    const truncated = join(home, "truncated.db");
    await json(data, "backup", join(home, "good.db"));
    writeFileSync(truncated, readFileSync(join(home, "good.db")).subarray(0, 20_000));
    for (const file of [join(home, "none"), join(home, "text"), truncated, join(data, "reckon.db")])
      for (const more of [[], ["--verify"]])
        expect([file, (await command(["restore", file, ...more, "--data", data])).code]).toEqual([file, 1]);
    expect(await json(data, "team", "list")).toHaveLength(1);
  });

  it("proves the ledger, and names each delivery that was altered or taken away", async () => {
    const data = join(newFolder(), "data");
    const { server } = await used(data);
    await server.end();
    const sound = await json(data, "ledger", "verify");
    expect(sound).toMatchObject({
      deliveries: 3,
      faults: [],
      head: { id: expect.any(Number), chainSha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    const anchor = `${sound.head.id}:${sound.head.chainSha256}`;
    const looked = new Sqlite(join(data, "reckon.db"), { readonly: true });
    const [first, second, third] = looked.prepare("SELECT id FROM deliveries ORDER BY id").pluck().all() as number[];
    looked.close();
    expect((await command(["ledger", "verify", "--anchor", anchor, "--data", data])).code).toBe(0);
    expect((await json(data, "doctor")).every((one: { status: string }) => one.status === "ok")).toBe(true);

    const faults = async (sql: string, undo: string) => {
      const db = new Sqlite(join(data, "reckon.db"));
      db.pragma("foreign_keys = OFF");
      alterEntries(db, sql);
      db.close();
      const done = await command(["ledger", "verify", "--data", data, "--json"]);
      const again = new Sqlite(join(data, "reckon.db"));
      alterEntries(again, undo);
      again.close();
      expect(done.code).toBe(1);
      return JSON.parse(done.stdout).faults.map((one: { deliveryId: number; problem: string }) => [
        one.deliveryId,
        one.problem,
      ]);
    };
    expect(
      await faults(
        `UPDATE telemetry_entries SET payload = '{"a":9}' WHERE seq = 1`,
        `UPDATE telemetry_entries SET payload = '{"a":1}' WHERE seq = 1`,
      ),
    ).toEqual([[first, "content"]]);
    expect(await faults("UPDATE brain_blobs SET content = '# B'", "UPDATE brain_blobs SET content = '# A'")).toEqual([
      [second, "content"],
    ]);
    expect(
      await faults(
        `UPDATE deliveries SET items = 7 WHERE id = ${second}`,
        `UPDATE deliveries SET items = 1 WHERE id = ${second}`,
      ),
    ).toEqual([[second, "chain"]]);
    const db = new Sqlite(join(data, "reckon.db"));
    db.pragma("foreign_keys = OFF");
    alterEntries(db, `DELETE FROM telemetry_entries WHERE seq = 2; DELETE FROM deliveries WHERE id = ${third}`);
    db.close();
    const cut = await command(["ledger", "verify", "--anchor", anchor, "--data", data]);
    expect([cut.code, cut.stdout]).toEqual([1, expect.stringContaining("chain")]);
    const doctor = await command(["doctor", "--data", data]);
    expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining("ledger\tfailed")]);
  });
});

describe("the program", () => {
  it("tells its version and its commands, every one with help", async () => {
    const version = await command(["--version"]);
    expect(version.stdout.trim()).toBe(
      JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")).version,
    );
    const help = await command(["--help"]);
    expect(help.code).toBe(0);
    for (const name of [
      "serve",
      "dev",
      "team",
      "code",
      "device",
      "policy",
      "license",
      "key",
      "backup",
      "restore",
      "doctor",
      "ledger",
      "openapi",
    ])
      expect(help.stdout).toMatch(new RegExp(`^  ${name}\\b`, "m"));
    expect(help.stdout).not.toContain("__");
    const serveHelp = await command(["serve", "--help"]);
    expect(serveHelp.stdout).toContain("RECKON_LIMIT_TELEMETRY");
    expect(serveHelp.stdout).toContain("600/60");
    for (const [args, option] of [
      [["replica", "check"], "deliveries older than this must be in it (default: 5m)"],
      [["error", "list"], "how many at most, 1 to 200 (default: 100)"],
      [["request", "list"], "how many at most (default: 100)"],
      [["pack", "list"], "how many at most, 1 to 10000 (default: 100)"],
      [["agent", "managed-settings"], 'one of linux, darwin, win32 (default: "linux")'],
    ] as const)
      expect((await ran([...args, "--help"])).out.replace(/\s+/g, " ")).toContain(`${option} -`);
  });

  it("prints the OpenAPI document", async () => {
    const document = JSON.parse((await command(["openapi"])).stdout);
    expect(document.openapi).toBe("3.1.0");
  });

  it("refuses a configuration it cannot understand, naming the variable", async () => {
    const done = await command(["serve", "--data", newFolder()], { env: { RECKON_PORT: "eighty" } });
    expect([done.code, done.stderr]).toEqual([2, expect.stringContaining("RECKON_PORT")]);
  });

  it("runs a throw-away instance whose printed commands work as pasted", async () => {
    const child = spawn(process.execPath, [MAIN, "dev", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
    const printed = await new Promise<string>((resolve) => {
      let text = "";
      child.stdout.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        if (text.includes("brain/search")) resolve(text);
      });
    });
    const commands = printed.split("\n\n").filter((part) => part.trimStart().startsWith("curl"));
    expect(commands.length).toBeGreaterThanOrEqual(4);
    const replies = commands.map((command) =>
      JSON.parse(execFileSync("bash", ["-c", command.replace("curl", "curl -sf")], { encoding: "utf8" })),
    );
    expect(replies.at(-1).hits[0].heading).toContain("Login loop");
    const data = globSync(join(tmpdir(), "reckon-dev-*"));
    child.kill("SIGTERM");
    expect(await new Promise((resolve) => child.on("exit", resolve))).toBe(0);
    expect(data.filter((path) => existsSync(path)).length).toBeLessThan(data.length);
  });

  it("refuses to play in a real server's directory", async () => {
    const data = newFolder();
    await json(data, "team", "create", "Acme");
    const done = await command(["dev", "--data", data, "--port", "0"]);
    expect([done.code, done.stderr]).toEqual([1, expect.stringContaining("real server")]);
  });
});
