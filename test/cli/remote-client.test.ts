import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { programVersion } from "../../src/kit/assets.ts";
import { isWindows } from "../../src/kit/files.ts";
import { launch, within } from "../faults/support/process.ts";
import { newFolder } from "../support/folder.ts";
import { startInstance } from "../support/instance.ts";
import { adminToken, ran } from "../support/remote.ts";

/** What a person meets who runs commands on a server elsewhere. */

const TOKEN = `rka_${"a".repeat(36)}`;
const ENV = { RECKON_TOKEN: TOKEN };

/** Something that answers in a server's place. */
async function standIn(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const OURS = { "service-api-version": "1", "content-type": "application/json" };
const LINES = { "service-api-version": "1", "content-type": "application/jsonl; charset=utf-8" };

/** A server that sends these lines. */
const sending = (...frames: readonly (object | string)[]) =>
  standIn((_, response) => {
    response.writeHead(200, LINES);
    response.end(frames.map((frame) => (typeof frame === "string" ? frame : `${JSON.stringify(frame)}\n`)).join(""));
  });

const list = (url: string, env: Record<string, string> = ENV) => ran(["--server", url, "team", "list"], env);

describe("the address and the token", () => {
  it.each([
    [
      "http elsewhere",
      "http://reckon.example.com",
      ENV,
      "http://reckon.example.com would send everything unencrypted: use https",
    ],
    ["another protocol", "ftp://127.0.0.1", ENV, "would send everything unencrypted"],
    ["no address", "https://", ENV, "is not the address of a server"],
    ["a password", "https://a:b@reckon.example.com", ENV, "the address holds a password"],
    ["no token", "http://127.0.0.1:1", {}, "set RECKON_TOKEN, or name --token-file"],
    ["another token", "http://127.0.0.1:1", { RECKON_TOKEN: "rkd_x" }, "the token is no API token"],
    [
      "a token with a line in it",
      "http://127.0.0.1:1",
      { RECKON_TOKEN: `${TOKEN}\nx: y` },
      "the token is no API token",
    ],
    ["nobody there", "http://127.0.0.1:2", ENV, "nothing listens at the server's address"],
    ["an unknown name", "https://reckon.invalid", ENV, "the server's name is not known here"],
  ])("are judged before anything is sent: %s", async (_, url, env: Record<string, string>, reason) => {
    const { code, out, err } = await list(url, env);
    expect([code, out, err]).toEqual([1, "", expect.stringMatching(/^reckon: .*\n$/)]);
    expect(err).toContain(reason);
  });

  it("takes the token from a file, and an address with a path below a proxy", async () => {
    const t = await startInstance({ settings: { port: "0" } });
    const url = await t.instance.listen();
    const { token } = await adminToken(t);
    await t.team({ name: "Acme" });
    const asked: string[] = [];
    const proxy = await standIn(async (request, response) => {
      asked.push(request.url ?? "");
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const reply = await fetch(url + (request.url ?? "").replace(/^\/sub\/path/, ""), {
        method: "POST",
        headers: { authorization: `${request.headers.authorization}`, "content-type": "application/json" },
        body: Buffer.concat(chunks),
      });
      response.writeHead(reply.status, Object.fromEntries(reply.headers));
      response.end(await reply.text());
    });
    const file = join(newFolder(), "token");
    writeFileSync(file, `${token}\n`);
    const { code, out } = await ran(["--server", `${proxy}/sub/path/`, "--token-file", file, "team", "list"]);
    expect([code, out, asked]).toEqual([0, expect.stringContaining("Acme"), ["/sub/path/api/command"]]);
    const without = await ran(["--token-file", file, "team", "list"]);
    expect([without.code, without.err]).toEqual([2, expect.stringContaining("--token-file is for --server")]);
    const missing = await ran(["--server", proxy, "--token-file", `${file}x`, "team", "list"]);
    expect([missing.code, missing.err]).toEqual([1, `reckon: ${file}x cannot be read: there is no such file\n`]);
  });

  it("sends no token to a server whose certificate nobody vouches for", async () => {
    const at = newFolder();
    const make = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"];
    const files = ["-keyout", join(at, "key"), "-out", join(at, "crt"), "-subj", "/CN=localhost"];
    execFileSync("openssl", [...make, ...files], { stdio: "ignore" });
    const asked: unknown[] = [];
    const pair = { key: readFileSync(join(at, "key")), cert: readFileSync(join(at, "crt")) };
    const server = createTlsServer(pair, (request) => void asked.push(request.headers));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    onTestFinished(() => void server.close());
    const { code, err } = await list(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect([code, asked]).toEqual([1, []]);
    expect(err).toContain("the server's certificate is not trusted");
    expect(err).toContain("NODE_EXTRA_CA_CERTS");
  });

  it("is explained where plain HTTP answers, as to an address without https://", async () => {
    const url = await standIn((_, response) => void response.end());
    const { code, err } = await list(url.replace("http://", ""));
    const asked = url.replace("http:", "https:");
    const reason = "what answers there does not speak TLS: is its address http:// or another port?";
    expect([code, err]).toEqual([1, `reckon: ${asked}: ${reason}\n`]);
  });
});

describe("what answers", () => {
  it.each([
    [
      "an older server",
      404,
      OURS,
      '{"ok":false,"code":"not_found","error":"No."}',
      "is its path right? An older server has none",
    ],
    ["something else", 200, { "content-type": "text/html" }, "<h1>Hello</h1>", "something other than Reckon answers"],
    [
      "a sign-in page of the network's",
      302,
      { location: "https://login.example.com/" },
      "",
      "sends on to https://login.example.com/",
    ],
    ["a token that ended", 401, OURS, '{"ok":false,"error":"x"}', "it is unknown there, ran out or was revoked"],
    ["a token that may less", 403, OURS, '{"ok":false,"error":"Only admins."}', "reckon: Only admins."],
    ["too much at once", 429, { ...OURS, "retry-after": "7" }, '{"ok":false,"error":"Wait."}', "Wait. (in 7 s)"],
    ["a server that cannot", 503, OURS, "<html>", "the server answered 503"],
    ["success of another kind", 200, OURS, "{}", "the server answered 200"],
  ])("is explained: %s", async (_, status, headers, body, reason) => {
    const url = await standIn((_request, response) => {
      response.writeHead(status, headers as Record<string, string>);
      response.end(body);
    });
    const { code, out, err } = await list(url);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(reason);
    expect(err).not.toContain(TOKEN);
  });

  it.each([
    ["ends early", [{ out: "a\n" }], "the connection broke before the command was done"],
    ["ends within a line", [{ out: "a\n" }, '{"exit":'], "the connection broke before the command was done"],
    ["is no JSON", [{ out: "a\n" }, "<html>\n"], "the server's reply cannot be read"],
    ["is something else", [{ out: "a\n" }, { run: "rm -rf /" }], "the server's reply cannot be read"],
    ["is a file that nobody asked for", [{ out: "a\n" }, { file: "AAAA" }], "a file, which nobody asked for"],
  ])("is not taken for success when it %s", async (_, frames, reason) => {
    const { code, out, err } = await list(await sending(...frames));
    expect([code, out, err]).toEqual([1, "a\n", expect.stringContaining(reason)]);
  });

  it("is handed on as it is, with the exit code", async () => {
    const frames = [
      { wait: true },
      { out: "é\u2028\n" },
      { err: "hm\n" },
      { out: "b" },
      { exit: 75, version: "0.0.1" },
    ];
    expect(await list(await sending(...frames))).toEqual({ code: 75, out: "é\u2028\nb", err: "hm\n" });
    const { code, err } = await list(await sending({ err: "error: unknown option\n" }, { exit: 2, version: "0.0.1" }));
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^error: unknown option\nThe server runs Reckon 0\.0\.1, and this is /),
    ]);
  });

  it("makes a file whole or not at all, and never in the place of another", async () => {
    const at = newFolder();
    const out = join(at, "acme.tar.zst");
    const exported = async (...frames: readonly object[]) =>
      ran(["--server", await sending(...frames), "export", "--team", "Acme", "--out", out], ENV);
    const piece = { file: Buffer.from("half").toString("base64") };
    for (const frames of [[piece], [piece, { err: "no\n" }, { exit: 1, version: "1" }]]) {
      expect((await exported(...frames)).code).toBe(1);
      expect(readdirSync(at)).toEqual([]);
    }
    expect((await exported(piece, piece, { exit: 0, version: "1" })).code).toBe(0);
    expect(readFileSync(out, "utf8")).toBe("halfhalf");
    const again = await exported(piece, { exit: 0, version: "1" });
    expect([again.code, again.err]).toEqual([1, expect.stringContaining("exists already")]);
    const nowhere = join(at, "none", "x");
    const lost = await ran(["--server", "http://127.0.0.1:1", "license", "mint", "--team", "A", "--out", nowhere], ENV);
    // A file without a place to go is not asked for.
    expect([lost.code, lost.err, existsSync(nowhere)]).toEqual([1, expect.stringContaining("is no directory"), false]);
  });

  it.skipIf(isWindows)(
    "makes the file anew, and writes through no link that somebody laid under its first name",
    async () => {
      const [at, elsewhere] = [newFolder(), join(newFolder(), "theirs")];
      const out = join(at, "acme.tar.zst");
      writeFileSync(elsewhere, "precious", { mode: 0o644 });
      symlinkSync(elsewhere, `${out}.partial`);
      const url = await sending({ file: Buffer.from("whole").toString("base64") }, { exit: 0, version: "1" });
      const { code } = await ran(["--server", url, "export", "--team", "Acme", "--out", out], ENV);
      expect([code, readFileSync(elsewhere, "utf8"), readFileSync(out, "utf8")]).toEqual([0, "precious", "whole"]);
      expect([lstatSync(out).isFile(), lstatSync(out).mode & 0o777]).toEqual([true, 0o600]);
    },
  );

  it("prints no result whose file cannot be written", async () => {
    const at = newFolder();
    const url = await standIn((_, response) => {
      rmSync(at, { recursive: true });
      response.writeHead(200, LINES);
      for (const frame of [
        { file: Buffer.from("half").toString("base64") },
        { out: "acme.tar.zst (1 file)\n" },
        { exit: 0, version: "1" },
      ])
        response.write(`${JSON.stringify(frame)}\n`);
      response.end();
    });
    const { code, out, err } = await ran(
      ["--server", url, "export", "--team", "Acme", "--out", join(at, "acme.tar.zst")],
      ENV,
    );
    expect([code, out, err]).toEqual([1, "", expect.stringContaining("is no directory")]);
  });

  it("writes a file also while node:vfs is mounted, as in the executable", async () => {
    const at = newFolder();
    const mounted = join(at, "mounted.mjs");
    writeFileSync(mounted, 'import vfs from "node:vfs";\nvfs.create().mount(import.meta.dirname + "/within");\n');
    const pieces = Array.from({ length: 20 }, (_, i) => ({ file: Buffer.from(`piece ${i}\n`).toString("base64") }));
    const out = join(at, "acme.tar.zst");
    const { exited, stderr } = launch(
      ["--server", await sending(...pieces, { exit: 0, version: "1" }), "export", "--team", "Acme", "--out", out],
      {
        env: {
          ...ENV,
          NODE_OPTIONS: `--experimental-vfs --disable-warning=ExperimentalWarning --import=${pathToFileURL(mounted)}`,
        },
      },
    );
    expect([(await within(exited, "export")).code, stderr()]).toEqual([0, expect.not.stringContaining("Error")]);
    expect(readFileSync(out, "utf8")).toBe(pieces.map((_, i) => `piece ${i}\n`).join(""));
  });
});

describe("what stays on the server's machine", () => {
  it.each([
    ["serve"],
    ["backup", "x"],
    ["restore", "x"],
    ["doctor"],
    ["ledger", "verify"],
    ["ledger", "key"],
    ["openapi"],
    ["notices"],
    ["license", "verify", "x", "--pubkey", "y"],
    ["monitoring", "alerts"],
    ["agent", "status"],
    ["dev"],
  ])("is refused with what can be run instead: %s %s", async (...argv) => {
    const { code, out, err } = await ran(["--server", "http://127.0.0.1:1", ...argv], ENV);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("works on the server's own machine alone. With --server there are:\n  team create | list");
  });

  it("reads usage here: wrong usage and help ask nobody", async () => {
    const at = "http://127.0.0.1:1";
    const wrong = await ran(["--server", at, "team", "create"], ENV);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("missing required argument 'name'")]);
    const unknown = await ran(["--server", at, "nonsense"], ENV);
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("With --server there are:")]);
    const help = await ran(["--server", at, "team", "create", "--help"], {});
    expect([help.code, help.out]).toEqual([0, expect.stringContaining("Usage: reckon team create")]);
    expect((await ran(["--help"])).out).toContain("--server <url>");
    for (const words of [["--server", at], [`--server=${at}`]]) {
      const behind = await ran(["team", "list", ...words], ENV);
      expect([behind.code, behind.err]).toEqual([2, expect.stringContaining("--server stands before the command")]);
    }
    const folder = newFolder();
    const token = await ran(["--server", at, "--token-file", folder, "team", "list"]);
    expect([token.code, token.err]).toEqual([1, `reckon: ${folder} cannot be read: it is a directory\n`]);
    const data = await ran(["--server", at, "team", "list", "--data", "/etc"], ENV);
    expect([data.code, data.err]).toEqual([
      1,
      expect.stringContaining("--data names what is on the server's own machine"),
    ]);
  });

  it("shows a person on a terminal a table", async () => {
    const t = await startInstance({ settings: { port: "0" } });
    const [url, { token }] = [await t.instance.listen(), await adminToken(t)];
    const { out } = await ran(["--server", url, "team", "list"], { RECKON_TOKEN: token }, true);
    expect(out).toBe(`No teams yet. Make one: reckon --server ${url} team create NAME\n`);
  });

  it("keeps what would act on the terminal from it, but for colours, and leaves a pipe as it is", async () => {
    const hostile = "a \u001b[1mbold\u001b[0m name\u001b]52;c;eA==\u0007\u009b2J\u202e\r\n";
    const url = await sending({ err: hostile }, { out: hostile }, { exit: 0, version: programVersion() });
    const shown = "a \u001b[1mbold\u001b[0m name?]52;c;eA==??2J??\n";
    const { out, err } = await ran(["--server", url, "team", "list"], ENV, true);
    expect([out, err]).toEqual([shown, shown]);
    expect((await list(url)).out).toBe(hostile);
  });

  it("is a list of any size, the same as on the server's own machine", async () => {
    const t = await startInstance({ settings: { port: "0" } });
    const [url, { token }] = [await t.instance.listen(), await adminToken(t)];
    const team = await t.team();
    const long = "x".repeat(1_000);
    const many = 30_000;
    const insert = t.instance.core.store.db.prepare(
      "INSERT INTO devices (id, team_id, label, consent_version, created_at) VALUES (?, ?, ?, '1', 1)",
    );
    await t.instance.core.store.write(() => {
      for (let i = 0; i < many; i++) insert.run(`dev_${String(i).padStart(8, "0")}`, team.id, `${i} ${long}`);
    });
    const elsewhere = await ran(["--server", url, "device", "list", "--json"], { RECKON_TOKEN: token });
    expect([elsewhere.code, elsewhere.err]).toEqual([0, ""]);
    const devices = JSON.parse(elsewhere.out) as { deviceId: string; label: string }[];
    expect([devices.length, devices.at(-1)]).toMatchObject([
      many,
      { deviceId: "dev_00029999", label: `29999 ${long}`, againstPolicy: 0 },
    ]);
    expect(elsewhere.out).toBe(`${JSON.stringify(devices, null, 2)}\n`);
    const lines = await ran(["--server", url, "device", "list"], { RECKON_TOKEN: token });
    const here = await ran(["device", "list", "--data", t.directory]);
    expect(lines).toEqual(here);
    expect(here.out.split("\n")).toHaveLength(many + 1);
  });
});
