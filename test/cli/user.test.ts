import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { setRole } from "../../src/identity/members/members.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { type Done, launch, serve, startRefused, within } from "../faults/support/process.ts";
import { newFolder } from "../support/folder.ts";
import { openByForms } from "../support/links.ts";
import { MAIN } from "../support/program.ts";
import { memberOf } from "../support/reads.ts";
import { command, everything } from "../support/remote.ts";

const PASSWORD = "plough-the-north-field";

function folder(): string {
  const path = newFolder();
  // Making a key would be most of what a short-lived server does.
  copyFileSync(join(inject("runFolder"), "signing-key.pem"), join(path, "signing-key.pem"));
  return path;
}

/** Runs a command with a text on its standard input, as a pipe gives it. */
async function piped(text: string, ...args: string[]): Promise<Done> {
  const watched = launch(args, { stdio: ["pipe", "pipe", "pipe"] });
  watched.child.stdin?.end(text);
  const { code } = await within(watched.exited, `reckon ${args.join(" ")}`);
  return { code, stdout: watched.stdout(), stderr: watched.stderr() };
}

async function json(done: Promise<Done>) {
  const { code, stdout, stderr } = await done;
  expect([code, stderr.includes("reckon:")]).toEqual([0, false]);
  return JSON.parse(stdout);
}

/** Rows of the database, read from outside. */
function rows(data: string, sql: string): unknown[] {
  const db = new Sqlite(join(data, "reckon.db"), { readonly: true });
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

/** Signs in over the socket as a browser does. @returns the status and the session's cookie */
async function signIn(url: string, email: string, password: string): Promise<number> {
  const page = await fetch(`${url}/login`);
  const cookie = (page.headers.getSetCookie()[0] as string).split(";")[0] as string;
  const csrf = /name="_csrf" value="([^"]+)"/.exec(await page.text())?.[1] as string;
  const reply = await fetch(`${url}/login`, {
    method: "POST",
    redirect: "manual",
    headers: { cookie, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ _csrf: csrf, email, password }).toString(),
  });
  return reply.status;
}

describe("reckon user", () => {
  it("makes accounts with roles, lists them, closes and opens them, beside a running server", async () => {
    const data = folder();
    await json(command(["team", "create", "Acme", "--data", data, "--json"]));
    const create = (email: string, ...more: string[]) =>
      piped(`${PASSWORD}\n`, "user", "create", email, "--password-stdin", "--data", data, "--json", ...more);
    const ada = await json(
      create("ada@example.com", "--name", "Ada", "--team", "Acme", "--role", "owner", "--operator"),
    );
    expect(ada).toEqual({ userId: expect.stringMatching(/^usr_/), email: "ada@example.com" });
    await json(create("bob@example.com", "--team", "Acme"));
    const taken = await create("ADA@example.com");
    expect([taken.code, taken.stdout]).toEqual([1, ""]);
    expect(taken.stderr).toContain("There is an account for ADA@example.com already");
    const list = await json(command(["user", "list", "--data", data, "--json"]));
    expect(list).toMatchObject([
      {
        email: "ada@example.com",
        name: "Ada",
        operator: true,
        status: "active",
        teams: [{ name: "Acme", role: "owner" }],
      },
      { email: "bob@example.com", operator: false, teams: [{ name: "Acme", role: "member" }] },
    ]);
    const plain = await command(["user", "list", "--data", data]);
    expect(plain.stdout).toMatch(/^usr_\S+\tada@example\.com\tAda\tactive\tyes\tAcme \(owner\)\t-\n/);

    const server = await serve(data);
    onTestFinished(async () => void (await server.end()));
    expect(await signIn(server.url, "bob@example.com", PASSWORD)).toBe(303);
    const disabled = await json(command(["user", "disable", "bob@example.com", "--data", data, "--json"]));
    expect(disabled).toMatchObject({ email: "bob@example.com", status: "disabled", changed: true, reporting: [] });
    expect(await signIn(server.url, "bob@example.com", PASSWORD)).toBe(401);
    expect(rows(data, "SELECT count(*) AS live FROM web_sessions WHERE ended_at IS NULL")).toEqual([{ live: 0 }]);
    await json(command(["user", "enable", "bob@example.com", "--data", data, "--json"]));
    expect(await signIn(server.url, "bob@example.com", PASSWORD)).toBe(303);
    expect(rows(data, "SELECT actor_kind, action FROM audit_events WHERE action LIKE 'user.%able%'")).toEqual([
      { actor_kind: "command", action: "user.disabled" },
      { actor_kind: "command", action: "user.enabled" },
    ]);
  });

  it("says which machines of a person whose account is closed still report, and revokes them when told to", async () => {
    const data = folder();
    const run = (...args: string[]) => command([...args, "--data", data]);
    await json(run("team", "create", "Acme", "--json"));
    await json(
      piped(
        PASSWORD,
        "user",
        "create",
        "bob@example.com",
        "--team",
        "Acme",
        "--password-stdin",
        "--data",
        data,
        "--json",
      ),
    );
    const { code } = await json(run("code", "create", "--team", "Acme", "--json"));
    const server = await serve(data);
    onTestFinished(async () => void (await server.end()));
    const post = (path: string, token: string, body: object) =>
      fetch(server.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
        body: JSON.stringify(body),
      });
    const bound = await post("/api/connect/exchange", "", { code, consent: { version: "1", deviceLabel: "laptop" } });
    const { deviceId, deviceToken } = (await bound.json()) as { deviceId: string; deviceToken: string };
    await json(run("device", "assign", deviceId, "bob@example.com", "--json"));
    const closed = await run("user", "disable", "bob@example.com", "--json");
    expect(JSON.parse(closed.stdout)).toMatchObject({
      changed: true,
      revoked: [],
      reporting: [{ deviceId, label: "laptop" }],
    });
    expect(closed.stderr).toContain(`${deviceId} (laptop)`);
    expect(closed.stderr).toContain("reckon user disable bob@example.com --revoke-devices");
    expect((await post("/api/telemetry/heartbeat", deviceToken, {})).status).toBe(200);
    const done = await json(run("user", "disable", "bob@example.com", "--revoke-devices", "--json"));
    expect(done).toMatchObject({ changed: false, revoked: [deviceId], reporting: [] });
    expect((await post("/api/telemetry/heartbeat", deviceToken, {})).status).toBe(401);
    expect(rows(data, "SELECT actor_kind, target_id FROM audit_events WHERE action = 'device.revoked'")).toEqual([
      { actor_kind: "command", target_id: deviceId },
    ]);
  });

  it("takes a person out of a team, with their machines there when told to, but never its last owner", async () => {
    const { t, acme, bob, device } = await everything();
    const run = (...args: string[]) => command([...args, "--data", t.directory]);
    const remove = (...args: string[]) => run("user", "remove", bob.email, "--team", "Acme", ...args);
    const put = (role: string) => json(run("user", "role", bob.email, "--team", "Acme", "--role", role, "--json"));
    await json(run("device", "assign", device.deviceId, bob.email, "--json"));
    await put("owner");
    const refused = await remove();
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([1, "", expect.stringContaining("only owner")]);
    const eve = await memberOf(t, acme);
    await setRole(t.instance.core, acme.id, eve.id, "owner", COMMAND_LINE);
    const plain = await remove();
    expect([plain.code, plain.stdout]).toEqual([0, `${bob.email} is no longer in Acme\n`]);
    expect(plain.stderr).toContain("reckon device revoke DEVICE --data");
    const again = await remove();
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("not in the team")]);
    await put("viewer");
    expect(await json(remove("--revoke-devices", "--json"))).toEqual({
      ...{ userId: bob.id, email: bob.email, teamId: acme.id },
      ...{ revoked: [device.deviceId], reporting: [] },
    });
    expect(t.rows("SELECT count(*) AS n FROM memberships WHERE user_id = ?", bob.id)).toEqual([{ n: 0 }]);
    expect(
      t.rows("SELECT team_id, actor_kind, target_id, detail FROM audit_events WHERE action = 'member.removed'"),
    ).toEqual(
      ["owner", "viewer"].map((role) => ({
        ...{ team_id: acme.id, actor_kind: "command", target_id: bob.id, detail: JSON.stringify({ role }) },
      })),
    );
  });

  it("names the teams that are left without an owner who can sign in", async () => {
    const { t, acme, bob } = await everything();
    const disable = (...args: string[]) => command(["user", "disable", bob.email, "--data", t.directory, ...args]);
    await setRole(t.instance.core, acme.id, bob.id, "owner", COMMAND_LINE);
    const { code, stderr } = await disable();
    expect([code, stderr]).toEqual([
      0,
      `Acme has no owner now who can sign in. Make one: reckon user role EMAIL --team Acme --role owner --data ${t.directory}\n`,
    ]);
    expect(await json(disable("--json"))).toMatchObject({
      changed: false,
      teamsWithoutOwner: [{ teamId: acme.id, name: "Acme" }],
    });
    const eve = await memberOf(t, acme);
    await setRole(t.instance.core, acme.id, eve.id, "owner", COMMAND_LINE);
    expect(await json(disable("--json"))).toMatchObject({ teamsWithoutOwner: [] });
  });

  it("brings a lost operator back: a link or a new password, and the right itself", async () => {
    const data = folder();
    await json(piped(PASSWORD, "user", "create", "ada@example.com", "--password-stdin", "--data", data, "--json"));
    expect(
      await json(command(["user", "set", "ada@example.com", "--operator", "true", "--data", data, "--json"])),
    ).toMatchObject({
      operator: true,
      changed: true,
    });
    const env = { RECKON_BASE_URL: "https://reckon.example.com/sub" };
    const link = await command(["user", "reset-password", "Ada@Example.com", "--data", data], { env });
    expect(link.stdout).toMatch(/^https:\/\/reckon\.example\.com\/sub\/reset-password#rkl_\w{36}\n$/);
    expect(link.stderr).toContain("Works once");
    const set = await json(
      piped(
        "a new pass phrase\r\n",
        "user",
        "reset-password",
        "ada@example.com",
        "--password-stdin",
        "--data",
        data,
        "--json",
      ),
    );
    expect(set).toMatchObject({ email: "ada@example.com" });
    const server = await serve(data);
    onTestFinished(async () => void (await server.end()));
    expect(await signIn(server.url, "ada@example.com", PASSWORD)).toBe(401);
    expect(await signIn(server.url, "ada@example.com", "a new pass phrase")).toBe(303);
    // Setting the password ended the link.
    const { hash } = new URL(link.stdout.trim());
    expect((await openByForms(`${server.url}/reset-password${hash}`)).status).toBe(410);
  });

  it("keeps inner line breaks and spaces of a password and drops one at the end", async () => {
    const data = folder();
    await json(
      piped("  two lines\nof it \n", "user", "create", "ada@example.com", "--password-stdin", "--data", data, "--json"),
    );
    const server = await serve(data);
    onTestFinished(async () => void (await server.end()));
    expect(await signIn(server.url, "ada@example.com", "  two lines\nof it ")).toBe(303);
    expect(await signIn(server.url, "ada@example.com", "  two lines\nof it")).toBe(401);
  });

  it("says what is wrong and makes nothing", async () => {
    const data = folder();
    await json(command(["team", "create", "Acme", "--data", data, "--json"]));
    const cases: [string, string[], number, RegExp][] = [
      [PASSWORD, ["create", "ada@example.com"], 2, /--password-stdin/],
      [PASSWORD, ["create", "no address", "--password-stdin"], 1, /not an e-mail address/],
      [PASSWORD, ["create", "eve@else.example\uff20acme.example", "--password-stdin"], 1, /not an e-mail address/],
      ["short", ["create", "ada@example.com", "--password-stdin"], 1, /at least 8/],
      ["", ["create", "ada@example.com", "--password-stdin"], 1, /no password on standard input/],
      [PASSWORD, ["create", "ada@example.com", "--password-stdin", "--role", "owner"], 2, /--role needs --team/],
      [
        PASSWORD,
        ["create", "ada@example.com", "--password-stdin", "--team", "Acme", "--role", "king"],
        2,
        /owner, admin/,
      ],
      [PASSWORD, ["create", "ada@example.com", "--password-stdin", "--team", "Nobody"], 1, /no team/],
      ["", ["disable", "nobody@example.com"], 1, /no account for "nobody@example\.com"/],
      ["", ["set", "ada@example.com"], 2, /--operator/],
      ["", ["set", "ada@example.com", "--operator", "yes"], 2, /true or false/],
    ];
    for (const [input, args, code, says] of cases) {
      const done = await piped(input, "user", ...args, "--data", data);
      expect([args, done.code, done.stdout]).toEqual([args, code, ""]);
      expect(done.stderr).toMatch(says);
      if (input !== "") expect(done.stderr).not.toContain(input);
    }
    expect(rows(data, "SELECT count(*) AS users FROM users")).toEqual([{ users: 0 }]);
  });

  it("refuses to read a password from a terminal", async () => {
    const data = folder();
    const command = `"${process.execPath}" "${MAIN}" user create ada@example.com --password-stdin --data "${data}"`;
    const done = await reckonUnderTerminal(command);
    expect(done).toContain("the password is read from standard input, not typed here");
  });
});

/** Runs a command on a pseudo-terminal, by script(1) of util-linux. */
async function reckonUnderTerminal(command: string): Promise<string> {
  const { spawn } = await import("node:child_process");
  const child = spawn("script", ["-qec", command, "/dev/null"], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  await within(new Promise((resolve) => child.once("close", resolve)), command);
  return out;
}

describe("the first start", () => {
  const setUpOf = (stdout: string) => /^set up: (\S+)$/m.exec(stdout)?.[1] as string;

  it("prints a one-time set-up link after its address; a restart prints another and ends the first", async () => {
    const data = folder();
    const first = await serve(data);
    const link = setUpOf(first.stdout());
    expect(first.stdout().startsWith(`listening on ${first.url}\nset up: ${first.url}/setup#rkl_`)).toBe(true);
    expect((await openByForms(link)).status).toBe(200);
    await first.end();
    expect(first.stderr()).not.toContain("rkl_");
    const second = await serve(data);
    onTestFinished(async () => void (await second.end()));
    expect((await openByForms(`${second.url}/setup${new URL(link).hash}`)).status).toBe(410);
    expect((await openByForms(setUpOf(second.stdout()))).status).toBe(200);
    expect(
      rows(data, "SELECT count(*) AS n, sum(expires_at - created_at = 30 * 60000) AS half FROM one_time_links"),
    ).toEqual([{ n: 2, half: 2 }]);
  });

  it("leads whoever followed the README into the team that they made, with what was sent meanwhile", async () => {
    const data = folder();
    await json(command(["team", "create", "Acme", "--data", data, "--json"]));
    const { code } = await json(command(["code", "create", "--team", "Acme", "--data", data, "--json"]));
    const server = await serve(data);
    onTestFinished(async () => void (await server.end()));
    const send = async (path: string, body: unknown, token = "") => {
      const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
      const reply = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
      return (await reply.json()) as { deviceToken: string; teamId: string; accepted: number };
    };
    const bound = await send("/api/connect/exchange", { code, consent: { version: "1", deviceLabel: "build agent" } });
    const entries = [{ seq: 1, payload: { type: "prompt", text: "Fix the login test" } }];
    const batch = { repoKey: "github.com/acme/shop", entries };
    expect((await send("/api/telemetry/ingest", batch, bound.deviceToken)).accepted).toBe(1);
    const link = setUpOf(server.stdout());
    const { text, cookie, csrf } = await openByForms(link);
    expect(text).toContain(`<option value="${bound.teamId}" selected>Take over Acme</option>`);
    const form = { email: "ada@example.com", password: PASSWORD, again: PASSWORD, take: bound.teamId, team: "" };
    const done = await fetch(`${server.url}/setup`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie },
      body: new URLSearchParams({ _csrf: csrf, token: new URL(link).hash.slice(1), ...form }),
    });
    expect([done.status, done.headers.get("location")]).toEqual([303, "/overview"]);
    const session = done.headers.getSetCookie().map((one) => one.split(";")[0]);
    const shown = await (await fetch(`${server.url}/telemetry`, { headers: { cookie: session.join("; ") } })).text();
    expect(shown).toContain("Fix the login test");
    expect(rows(data, "SELECT role FROM memberships")).toEqual([{ role: "owner" }]);
    expect(server.stderr()).not.toContain("rkl_");
  });

  it("names the link below the base URL, and where it works on this machine", async () => {
    const data = folder();
    const server = await serve(data, { env: { RECKON_BASE_URL: "http://reckon.lan:8080/sub" } });
    onTestFinished(async () => void (await server.end()));
    expect(server.stdout()).toMatch(
      /^listening on http:\/\/127\.0\.0\.1:\d+\nset up: [\s\S]+\npublic address: http:\/\/reckon\.lan:8080\/sub\n$/,
    );
    expect((await fetch(`${server.url}/api/health`)).status).toBe(200);
    const port = /on this machine also: http:\/\/127\.0\.0\.1:(\d+)\/sub\/setup#(rkl_\w+)/.exec(server.stdout());
    expect(setUpOf(server.stdout())).toBe(`http://reckon.lan:8080/sub/setup#${port?.[2]}`);
    expect((await openByForms(`http://127.0.0.1:${port?.[1]}/sub/setup#${port?.[2]}`)).status).toBe(200);
  });

  it("says what is missing where the address in links cannot be opened", async () => {
    const data = folder();
    const started = async (env: Record<string, string>) => {
      const server = await serve(data, { env: { RECKON_HOST: "0.0.0.0", ...env } });
      await server.end();
      return server.stdout();
    };
    expect(await started({})).toMatch(/^Links and licences name http:\/\/0\.0\.0\.0:\d+, which .*RECKON_BASE_URL\.$/m);
    const named = await started({ RECKON_BASE_URL: "http://reckon.lan" });
    expect(named).not.toContain("Links and licences");
    expect(named).not.toContain("on this machine also");
  });

  it("tells the link in JSON, and only while there is nobody", async () => {
    const data = folder();
    const started = async () => {
      const watched = launch(["serve", "--data", data, "--port", "0", "--json"]);
      await within(
        new Promise<void>((resolve) => {
          const look = () => watched.stdout().includes("\n") && resolve();
          watched.child.stdout?.on("data", look);
          watched.exited.then(() => resolve());
        }),
        "the first line",
      );
      watched.child.kill("SIGTERM");
      await watched.exited;
      return JSON.parse(watched.stdout());
    };
    const first = await started();
    expect(first).toEqual({
      url: expect.any(String),
      localUrl: first.url,
      setupUrl: expect.stringContaining(`${first.url}/setup#rkl_`),
    });
    await json(
      piped(PASSWORD, "user", "create", "ada@example.com", "--operator", "--password-stdin", "--data", data, "--json"),
    );
    expect(await started()).toEqual({ url: expect.any(String), localUrl: expect.any(String) });
  });

  it("makes the operator that the environment names, once, and never changes one that is there", async () => {
    const data = folder();
    const secret = join(folder(), "password");
    writeFileSync(secret, `${PASSWORD}\n`);
    const env = { RECKON_ADMIN_EMAIL: "ada@example.com", RECKON_ADMIN_PASSWORD_FILE: secret };
    const first = await serve(data, { env });
    expect(first.stdout()).toBe(`listening on ${first.url}\nfirst operator: ada@example.com\n`);
    expect(await signIn(first.url, "ada@example.com", PASSWORD)).toBe(303);
    await first.end();
    expect(rows(data, "SELECT email, operator FROM users")).toEqual([{ email: "ada@example.com", operator: 1 }]);
    const second = await serve(data, {
      env: { ...env, RECKON_ADMIN_PASSWORD: "another pass phrase", RECKON_ADMIN_PASSWORD_FILE: "" },
    });
    onTestFinished(async () => void (await second.end()));
    expect(second.stdout()).toBe(`listening on ${second.url}\n`);
    expect(await signIn(second.url, "ada@example.com", "another pass phrase")).toBe(401);
    expect(await signIn(second.url, "ada@example.com", PASSWORD)).toBe(303);
    expect(rows(data, "SELECT actor_kind FROM audit_events WHERE action = 'user.created'")).toEqual([
      { actor_kind: "system" },
    ]);
  });

  it("refuses half a first operator and a password that will not do", async () => {
    const cases: [Record<string, string>, RegExp][] = [
      [{ RECKON_ADMIN_EMAIL: "ada@example.com" }, /RECKON_ADMIN_EMAIL is set without RECKON_ADMIN_PASSWORD/],
      [{ RECKON_ADMIN_PASSWORD: PASSWORD }, /RECKON_ADMIN_PASSWORD is set without RECKON_ADMIN_EMAIL/],
      [{ RECKON_ADMIN_EMAIL: "ada@example.com", RECKON_ADMIN_PASSWORD: "1234567" }, /no first operator.*at least 8/],
      [{ RECKON_ADMIN_EMAIL: "ada", RECKON_ADMIN_PASSWORD: PASSWORD }, /no first operator.*not an e-mail address/],
    ];
    for (const [env, says] of cases) {
      const data = folder();
      const done = await startRefused(data, { env });
      expect([done.code, done.stdout]).toEqual([2, ""]);
      expect(done.stderr).toMatch(says);
      expect(done.stderr).not.toContain(env.RECKON_ADMIN_PASSWORD ?? "\0");
      // It left nothing half-made behind: without the setting it starts.
      const started = await serve(data);
      await started.end();
      expect(setUpOf(started.stdout())).toContain("/setup#rkl_");
    }
  });
});
