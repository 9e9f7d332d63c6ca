import { describe, expect, it } from "vitest";
import { createApiToken, revokeApiToken } from "../../src/identity/api-tokens/api-tokens.ts";
import { removeMember, setRole } from "../../src/identity/members/members.ts";
import { acceptAsNew } from "../../src/identity/sign-in/sign-in.ts";
import { addIssuer } from "../../src/identity/sso/sso.ts";
import { setBudget } from "../../src/insight/budgets/budgets.ts";
import { entriesProjection } from "../../src/insight/defects/defects.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { catchUp } from "../../src/platform/projections/projections.ts";
import { REMOTE } from "../../src/surfaces/cli/remote.ts";
import { makeAccount, PASSWORD } from "../support/accounts.ts";
import { fillRecords } from "../support/api.ts";
import { person } from "../support/cli.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";
import { adminToken } from "../support/remote.ts";

/** What a command sent back. */
async function send(t: TestInstance, token: string, argv: readonly string[], more: object = {}) {
  const answer = await t.post("/api/command", { token, json: { argv, ...more } });
  if (answer.status !== 200) return { status: answer.status, body: answer.body };
  expect(answer.headers.get("content-type")).toBe("application/jsonl; charset=utf-8");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  const frames = answer.text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const all = (name: string) => frames.map((frame) => frame[name] ?? "").join("");
  return { status: 200, exit: frames.at(-1).exit as number, out: all("out"), err: all("err"), frames };
}

async function started() {
  const t = await startInstance();
  const [acme, other] = [await t.team({ name: "Acme" }), await t.team({ name: "Other" })];
  const token = async (teamId: string | null, scope: "read" | "admin") =>
    (await adminToken(t, { teamId, scope })).token;
  return { t, acme, other, token };
}

/** An argument for everything that a command demands, so that it is the token that decides. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  "team create": "x",
  "user create": "x@example.com --password-stdin",
  "policy set": "--team Acme --file -",
};

const CLASSES =
  "SELECT id, lower(hex(substr(fingerprint, 1, 4))) AS class FROM defects WHERE team_id = ? AND title LIKE 'Slow%'";

describe("whose command it is", () => {
  it("is decided by scope and team for every command", async () => {
    const { t, acme, token } = await started();
    const tokens = [
      { name: "read of a team", token: await token(acme.id, "read"), may: ["read team"] },
      { name: "read of all", token: await token(null, "read"), may: ["read team", "read all"] },
      { name: "admin of a team", token: await token(acme.id, "admin"), may: ["read team", "admin team"] },
    ];
    for (const [command, { scope, of }] of Object.entries(REMOTE))
      for (const { name, token, may } of tokens) {
        const argv = [...command.split(" "), ...(ARGUMENTS[command]?.split(" ") ?? []), "--wrong-usage"];
        const { status, exit } = await send(t, token, argv);
        const isTheirs = may.includes(`${scope} ${of}`);
        expect([command, name, status, exit]).toEqual([command, name, isTheirs ? 200 : 403, isTheirs ? 2 : undefined]);
      }
  });

  it("lets a token invite as an admin of its team may, for as long as the token's owner may", async () => {
    const { t, acme } = await started();
    const { core } = t.instance;
    const admin = await makeAccount(core, { email: "admin@example.com", team: { id: acme.id, role: "admin" } });
    const tokenOf = async (userId: string | null) => (await adminToken(t, { teamId: acme.id, userId })).token;
    const [theirs, nobodys] = [await tokenOf(admin.id), await tokenOf(null)];
    const invite = (token: string, ...argv: string[]) => send(t, token, ["user", "invite", "--team", "Acme", ...argv]);
    for (const token of [theirs, nobodys])
      expect(await invite(token, "--role", "owner")).toMatchObject({
        exit: 1,
        err: expect.stringContaining("Only an owner"),
      });
    // An invitation to an address needs a token with an owner, who answers for it.
    expect(await invite(nobodys, "eve@example.com")).toMatchObject({
      exit: 1,
      err: expect.stringContaining("leave the address out"),
    });
    expect(t.count("one_time_links")).toBe(0);
    const links = [await invite(theirs, "eve@example.com"), await invite(nobodys)].map(
      ({ out = "" }) => out.trim().split("#")[1],
    );
    const [named, anybodys] = links as [string, string];
    const join = (link: string, email: string) =>
      acceptAsNew(core, link, { email, name: null, password: PASSWORD }, { ip: "192.0.2.1", userAgent: null });
    // As where the admin had made it on the dashboard: whom single sign-on brings chooses no password before.
    await addIssuer(
      core,
      "corp",
      { issuer: "https://corp.example/", clientId: "reckon", domains: ["example.com"] },
      COMMAND_LINE,
    );
    await expect(join(named, "eve@example.com")).rejects.toThrow("sign in with");
    await join(anybodys, "joe@else.example");
    await removeMember(core, acme.id, admin.id, COMMAND_LINE);
    await expect(join(named, "eve@example.com")).rejects.toThrow("may no longer make it");
    expect(t.rows("SELECT email, role FROM memberships JOIN users ON id = user_id")).toEqual([
      { email: "joe@else.example", role: "member" },
    ]);
  });

  it("confines a team's token to its team, whatever a command names", async () => {
    const { t, acme, other, token } = await started();
    const [mine, theirs] = [await t.device(acme), await t.device(other)];
    await fillRecords(t, mine, "login");
    await fillRecords(t, theirs, "canary");
    const { core } = t.instance;
    const budget = await setBudget(
      core,
      other.id,
      { scope: "team", subject: "", period: "month", amountUsd: 5 },
      COMMAND_LINE,
    );
    await catchUp(core, entriesProjection);
    const [own, error] = [acme, other].map(({ id }) => t.rows(CLASSES, id)[0]);
    const stranger = await person(t, "stranger@example.com");
    await setRole(t.instance.core, other.id, stranger.id, "member", COMMAND_LINE);
    const foreign = await createApiToken(
      t.instance.core,
      { teamId: other.id, userId: null, name: "canary" },
      COMMAND_LINE,
    );
    const before = t.rows("SELECT count(*) AS n FROM audit_events WHERE team_id = ?", other.id);
    const admin = await token(acme.id, "admin");
    const refused = [
      ["team", "show", "Other"],
      ["team", "show", other.id],
      ["team", "show", "Nowhere"],
      ["team", "set", "Other", "--members-bind", "false"],
      ["team", "set", "Acme", "--tier", "enterprise"],
      ["code", "create", "--team", "Other"],
      ["code", "list", "--team", other.id],
      ["device", "list", "--team", "Other"],
      ["device", "list", "--person", stranger.email],
      ["device", "list", "--person", "nobody@example.com"],
      ["device", "revoke", theirs.deviceId],
      ["device", "assign", theirs.deviceId, "--nobody"],
      ["device", "assign", mine.deviceId, stranger.email],
      ["api-token", "create", "--name", "x", "--team", "Other"],
      ["api-token", "create", "--name", "x", "--all-teams"],
      ["api-token", "create", "--name", "x", "--team", "Acme", "--scope", "admin", "--expires", "1d"],
      ["api-token", "create", "--name", "x", "--team", "Acme", "--user", stranger.email],
      ["api-token", "list", "--team", "Other"],
      ["api-token", "revoke", foreign.id],
      ["policy", "show", "--team", "Other"],
      ["license", "mint", "--team", "Other"],
      ["pack", "publish", "--team", "Other", "--repo", "github.com/acme/shop", "--name", "x-y", "--version", "1.0.0"],
      ["pack", "list", "--team", "Other"],
      ["spend", "--team", "Other"],
      ["spend", "--person", stranger.email],
      ["budget", "set", "--team", "Other", "--usd", "5"],
      ["budget", "set", "--team", "Acme", "--usd", "5", "--person", stranger.email],
      ["budget", "set", "--team", "Acme", "--usd", "5", "--person", "nobody@example.com"],
      ["budget", "list", "--team", "Other"],
      ["budget", "remove", budget.id, "--team", "Acme"],
      ["budget", "remove", budget.id, "--team", "Other"],
      ["error", "list", "--team", "Other"],
      ["error", "list", "--team", "Acme", "--owner", stranger.email],
      ["error", "list", "--team", "Acme", "--owner", "nobody@example.com"],
      ["error", "show", error.class, "--team", "Other"],
      ["error", "show", error.class, "--team", "Acme"],
      ["error", "comment", error.class, "I was here.", "--team", "Other"],
      ["error", "resolve", String(error.id), "--team", "Acme"],
      ["error", "assign", own.class, stranger.email, "--team", "Acme"],
      ["retention", "set", "--team", "Other", "--kind", "telemetry", "--days", "1"],
      ["retention", "list", "--team", other.id],
    ];
    const said = new Set<string>();
    for (const argv of refused) {
      const { status, exit, out, err } = await send(t, admin, argv);
      expect([argv.join(" "), status, exit, out]).toEqual([argv.join(" "), 200, 1, ""]);
      expect(err).not.toContain("canary");
      said.add(`${err}`);
    }
    // The replies do not tell whether a team or a person exists.
    expect([...said].filter((text) => text.includes("Nowhere") || text.includes("no account"))).toEqual([]);
    for (const argv of [
      ["team", "list"],
      ["device", "list"],
      ["api-token", "list"],
      ["pack", "list"],
      ["retention", "list"],
      ["spend"],
    ]) {
      const { exit, out } = await send(t, admin, [...argv, "--json"]);
      expect([argv.join(" "), exit]).toEqual([argv.join(" "), 0]);
      for (const text of [other.id, "Other", "canary", theirs.deviceId]) expect(out).not.toContain(text);
    }
    expect(t.rows("SELECT count(*) AS n FROM audit_events WHERE team_id = ?", other.id)).toEqual(before);
    expect(t.rows("SELECT revoked_at FROM devices WHERE id = ?", theirs.deviceId)).toEqual([{ revoked_at: null }]);
  });

  it("ends with the token, and with its owner's rights", async () => {
    const { t, acme } = await started();
    const { core } = t.instance;
    const ada = await person(t);
    await setRole(core, acme.id, ada.id, "admin", COMMAND_LINE);
    const mine = await adminToken(t, { teamId: acme.id, userId: ada.id });
    const short = await adminToken(t, { teamId: acme.id, lifetimeMs: 60_000 });
    const list = ["team", "list"];
    expect((await send(t, mine.token, list)).status).toBe(200);
    await setRole(core, acme.id, ada.id, "member", COMMAND_LINE);
    expect((await send(t, mine.token, list)).status).toBe(401);
    await setRole(core, acme.id, ada.id, "admin", COMMAND_LINE);
    expect((await send(t, mine.token, list)).status).toBe(200);
    await revokeApiToken(core, mine.id, COMMAND_LINE);
    expect((await send(t, mine.token, list)).status).toBe(401);
    t.clock.advance(60_001);
    expect((await send(t, short.token, list)).status).toBe(401);
    expect((await t.post("/api/command", { json: { argv: list } })).status).toBe(401);
    const { token } = await t.device(acme);
    expect((await send(t, token, list)).status).toBe(401);
  });

  it("sends no more of an archive once the token is revoked", async () => {
    const { t, acme } = await started();
    const { token, id } = await adminToken(t, { teamId: null });
    const device = await t.device(acme);
    // Random text, which compresses badly, so that much of the archive waits for its reader.
    const word = () => Math.random().toString(36).slice(2, 8);
    const text = () => Array.from({ length: 8_000 }, word).join(" ");
    for (let at = 0; at < 100; at += 20) {
      const entries = Array.from({ length: 20 }, (_, i) => ({ seq: at + i + 1, payload: { text: text() } }));
      expect((await t.post("/api/telemetry/ingest", { token: device.token, json: { entries } })).status).toBe(200);
    }
    const answer = await t.instance.fetch(
      new Request("http://localhost/api/command", {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ argv: "export --team Acme --out x.tar.zst".split(" ") }),
      }),
    );
    const frames: { file?: string; err?: string; exit?: number }[] = [];
    const decoder = new TextDecoder();
    let left = "";
    for await (const piece of answer.body as ReadableStream<Uint8Array>) {
      const lines = (left + decoder.decode(piece, { stream: true })).split("\n");
      left = lines.pop() ?? "";
      frames.push(...lines.map((line) => JSON.parse(line)));
      if (frames.some(({ file }) => file !== undefined)) await revokeApiToken(t.instance.core, id, COMMAND_LINE);
    }
    const bytes = frames.reduce((sum, { file = "" }) => sum + file.length, 0);
    expect([frames.at(-1)?.exit, bytes > 0, bytes < 3_000_000]).toEqual([1, true, true]);
    expect(frames.map(({ err }) => err ?? "").join("")).toContain("the token does not work any more");
  });

  it("makes no token with more rights, for another person, or with a longer life than its own", async () => {
    const { t, acme } = await started();
    const ada = await person(t);
    await setRole(t.instance.core, acme.id, ada.id, "owner", COMMAND_LINE);
    const made = await adminToken(t, { teamId: acme.id, userId: ada.id });
    const { exit, out } = await send(
      t,
      made.token,
      "api-token create --name x --team Acme --expires 90d --json".split(" "),
    );
    expect([exit, JSON.parse(`${out}`)]).toMatchObject([
      0,
      { scopes: ["read"], expiresAt: new Date(made.expiresAt).toISOString() },
    ]);
    expect(t.rows("SELECT user_id, team_id FROM api_tokens WHERE name = 'x'")).toEqual([
      { user_id: ada.id, team_id: acme.id },
    ]);
    const { err } = await send(t, made.token, ["user", "list"]).then(({ body }) => ({ err: body?.error }));
    expect(err).toBe('"user list" takes a token of all teams.');
  });

  it("stands in the audit with the token's id, name, owner and address", async () => {
    const { t, acme } = await started();
    const ada = await person(t);
    await setRole(t.instance.core, acme.id, ada.id, "owner", COMMAND_LINE);
    const { token, id } = await adminToken(t, { teamId: acme.id, userId: ada.id, name: "deploy" });
    const { out } = await send(t, token, ["code", "create", "--team", "Acme"]);
    await send(t, token, ["team", "list"]);
    const events = t.rows(
      "SELECT action, team_id, actor_kind, actor_id, actor_label, target_id, target_label, ip, detail FROM audit_events WHERE actor_id = ? ORDER BY id",
      id,
    );
    const by = {
      team_id: acme.id,
      actor_kind: "command",
      actor_id: id,
      actor_label: `API token ${id}`,
      ip: expect.any(String),
    };
    const detail = JSON.stringify({ command: "code create", owner: ada.email });
    expect(events).toEqual([
      { ...by, action: "command.run", target_id: id, target_label: "deploy", detail },
      { ...by, action: "code.created", target_id: expect.any(String), target_label: null, detail: expect.any(String) },
    ]);
    expect(t.rows("SELECT operation, reads FROM api_token_days ORDER BY operation")).toEqual([
      { operation: "code create", reads: 1 },
      { operation: "team list", reads: 1 },
    ]);
    // A secret that is shown once is in the reply alone.
    const code = `${out}`.trim();
    expect(JSON.stringify([t.rows("SELECT * FROM audit_events"), t.log])).not.toContain(code);
  });
});

it("leaves neither name, address nor place of whoever answered for a token, once they are erased", async () => {
  const { t, acme } = await started();
  const { core } = t.instance;
  const ada = await person(t, "zinnia@example.com");
  await setRole(core, acme.id, ada.id, "owner", COMMAND_LINE);
  const { token, id } = await adminToken(t, { teamId: acme.id, userId: ada.id, name: "zinnia's laptop" });
  expect((await send(t, token, ["code", "create", "--team", "Acme"])).exit).toBe(0);
  const ops = await adminToken(t);
  const { exit } = await send(t, ops.token, ["erase", "--person", ada.email, "--reason", "asked for", "--yes"]);
  expect([
    exit,
    t.rows("SELECT action FROM audit_events WHERE actor_id = ?", ops.id).map(({ action }) => action),
  ]).toEqual([0, ["command.run", "erasure.requested"]]);
  const theirs = t.rows(
    "SELECT action, actor_label, target_label, ip, detail FROM audit_events WHERE actor_id = ?",
    id,
  );
  expect(theirs.map(({ action, ip }) => [action, ip])).toEqual([
    ["command.run", null],
    ["code.created", null],
  ]);
  const everywhere = ["audit_events", "api_tokens", "connect_codes", "erasures"].map((table) =>
    t.rows(`SELECT * FROM ${table}`),
  );
  expect(JSON.stringify(everywhere)).not.toContain("zinnia");
});

describe("hostile command lines", () => {
  it.each([
    ["nothing", []],
    ["no command", ["nonsense"]],
    ["a command of the server's machine", ["serve", "--port", "1"]],
    ["a backup", ["backup", "/tmp/x"]],
    ["a restore", ["restore", "/tmp/x"]],
    ["a sub-command that reads files", ["license", "verify", "/etc/passwd", "--pubkey", "/etc/passwd"]],
    ["help", ["help", "team"]],
    ["a member of every object", ["constructor"]],
    ["a global option first", ["--server", "http://127.0.0.1:1", "team", "list"]],
    ["NUL", ["team", "show", "a\0b"]],
    ["a huge argument", ["team", "show", "x".repeat(5_000)]],
    ["very many", ["team", "show", ...Array<string>(300).fill("x")]],
    ["something else than texts", ["team", 7]],
    ["something else than a list", { 0: "team" }],
  ])("are refused: %s", async (_, argv) => {
    const { t, token } = await started();
    const before = t.count("audit_events");
    const answer = await t.post("/api/command", { token: await token(null, "admin"), json: { argv } });
    expect([answer.status, answer.body.code]).toEqual([400, "bad_request"]);
    expect(t.count("audit_events")).toBe(before + 1);
  });

  it("are refused when too large as a whole", async () => {
    const { t, token } = await started();
    const admin = await token(null, "admin");
    const input = "x".repeat(1024 * 1024 + 1);
    expect((await t.post("/api/command", { token: admin, json: { argv: ["team", "list"], input } })).status).toBe(400);
    const body = JSON.stringify({ argv: ["team", "list"], input: "x".repeat(4 * 1024 * 1024) });
    const headers = { "content-type": "application/json" };
    expect((await t.post("/api/command", { token: admin, body, headers })).status).toBe(413);
  });

  it("name no file of the server: none is read, written or looked for", async () => {
    const { t, token } = await started();
    const admin = await token(null, "admin");
    const there = `${t.directory}/reckon.db`;
    const cases: [string[], object, number, RegExp][] = [
      [["team", "list", "--data", "/etc"], {}, 1, /--data names what is on the server/],
      [["team", "create", "x", "--data=/tmp/new"], {}, 1, /--data/],
      [["release", "add", "--platform", "win", "--version", "1.0.0", "--file", "/etc/passwd"], {}, 1, /--file/],
      [["policy", "set", "--team", "Acme", "--file", "/etc/passwd"], {}, 1, /did not come along/],
      [["policy", "set", "--team", "Acme", "--file", "../../etc/passwd"], { input: "no JSON" }, 1, /^(?!.*root)/],
      [["policy", "set", "--team", "Acme", "--file", "@/etc/passwd"], { input: '{"captureMode":"metadata"}' }, 0, /^$/],
      [["user", "create", "x@example.com", "--password-stdin"], {}, 1, /did not come along/],
      [["team", "show", "@/etc/passwd"], {}, 1, /no team/],
      [["erase", "--repo", "x", "--reason", "y"], {}, 1, /nobody can be asked/],
      [["team", "list", "--version"], {}, 2, /unknown option/],
    ];
    for (const [argv, more, exit, reason] of cases) {
      const done = await send(t, admin, argv, more);
      expect([argv.join(" "), done.exit]).toEqual([argv.join(" "), exit]);
      expect(done.err).toMatch(reason);
      expect(`${done.out}${done.err}`).not.toContain("root:");
    }
    // Whether the file exists is for the client to judge.
    for (const out of [there, `${t.directory}/none`]) {
      const { exit, frames } = await send(t, admin, ["license", "mint", "--team", "Acme", "--out", out]);
      expect([exit, frames?.some((frame) => "file" in frame)]).toEqual([0, true]);
    }
  });

  it("keep a team's and an operator's help to themselves", async () => {
    const { t, token } = await started();
    const { exit, out } = await send(t, await token(null, "admin"), ["team", "list", "--help"]);
    expect([exit, out]).toEqual([0, expect.stringContaining("Usage: reckon team list")]);
  });

  it("run four at a time with one token, and others beside them", async () => {
    const { t, token } = await started();
    const [one, two] = [await token(null, "admin"), await token(null, "admin")];
    const many = await Promise.all(Array.from({ length: 12 }, () => send(t, one, ["team", "list"])));
    const statuses = many.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect((await send(t, two, ["team", "list"])).status).toBe(200);
    expect((await send(t, one, ["team", "list"])).status).toBe(200);
  });

  it("say nothing of an unforeseen failure but in the log", async () => {
    const { t, token } = await started();
    const admin = await token(null, "admin");
    t.instance.core.store.db.exec("ALTER TABLE holds RENAME TO gone");
    const { exit, err } = await send(t, admin, ["hold", "list"]);
    expect([exit, err]).toEqual([1, "reckon: the server failed, and its log says why\n"]);
    expect(t.log.join("")).toContain("no such table");
  });
});
