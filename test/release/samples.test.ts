import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { ROOT } from "../../build/bundle.ts";
import { DATA } from "../../build/release/oci.ts";
import { readConfig } from "../../src/config.ts";
import { type Running, reckon, serve, until } from "../faults/support/process.ts";
import { testData, testServer } from "../faults/support/test.ts";
import { makeCertificate } from "../support/certificates.ts";
import { newFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { SCRIPT } from "../support/program.ts";

/** The files of docs/samples, in use. */

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
const CONFIGURATION = readFileSync(join(ROOT, "docs/generated/configuration.md"), "utf8");

const sample = (name: string) => readFileSync(join(ROOT, "docs/samples", name), "utf8");

function without(command: string, ...args: string[]): string | undefined {
  if (spawnSync(command, args).status === 0) return undefined;
  console.log(`tests of samples that need ${command} ${args.join(" ")} are skipped: it is not installed`);
  return command;
}
const noNginx = without("nginx", "-v");
const noCaddy = without("caddy", "version");
const noSystemd = without("systemd-analyze", "--version");
const COMPOSE = join(ROOT, "docs/samples/compose.yaml");
/** What judges a compose file: Docker's own plugin, or `cmd` of compose-go, which the specification's authors keep. */
const composers = [
  ["docker", "compose", "-f", COMPOSE, "config", "--quiet"],
  [process.env.RECKON_TEST_COMPOSE ?? "compose-spec", COMPOSE],
] as const;
const composer = composers.find(([command, ...args]) =>
  command === "docker"
    ? spawnSync(command, ["compose", "version"]).status === 0
    : spawnSync(command, args).error === undefined,
);
if (!composer)
  console.log(
    "the compose file is not judged by compose: neither docker compose nor compose-spec (RECKON_TEST_COMPOSE) is installed",
  );
const noCurl = without("curl", "--version");

/** Replaces texts of which a sample must hold each exactly. */
function replaced(text: string, rows: Readonly<Record<string, string>>): string {
  return Object.entries(rows).reduce((sofar, [from, to]) => {
    expect(sofar).toContain(from);
    return sofar.replaceAll(from, to);
  }, text);
}

/** A server below a sub-path of a proxy that listens on a port. */
async function behind(port: number): Promise<{ server: Running; own: number; site: string }> {
  const site = `http://127.0.0.1:${port}`;
  const env = { RECKON_BASE_URL: `${site}/reckon`, RECKON_TRUSTED_PROXIES: "127.0.0.1", RECKON_LOG: "debug" };
  const data = newFolder();
  const own = await freePort();
  const server = await serve(data, { env, args: ["--port", String(own)] });
  onTestFinished(async () => void (await server.end()));
  return { server, own, site };
}

/** Starts a proxy in the foreground; it ends with the test. */
function start(command: string, args: readonly string[], env: Record<string, string> = {}): void {
  const child = spawn(command, args, { stdio: "ignore", env: { ...process.env, ...env } });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await exited;
  });
}

/** Starts nginx with a site, which it must have nothing against. @param folder for what it writes */
function startNginx(folder: string, site: string): void {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  writeFileSync(
    join(folder, "nginx.conf"),
    `pid ${folder}/pid; error_log ${folder}/error.log; daemon off; master_process off;\nevents {}\n` +
      `http { access_log off; ${paths.join(" ")}\n${site}\n}\n`,
  );
  const args = ["-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")];
  const judged = spawnSync("nginx", ["-t", ...args], { encoding: "utf8" });
  expect([judged.status, judged.stderr]).toEqual([0, expect.not.stringContaining("[warn]")]);
  start("nginx", args);
}

/** What a proxy must do: pass the sub-path on, take what is large, and say who asks. */
async function expectProxied({ server, own, site }: Awaited<ReturnType<typeof behind>>): Promise<void> {
  const status = (path: string) =>
    fetch(`${site}${path}`).then(
      (answer) => answer.status,
      () => 0,
    );
  await until("the proxy passes on", async () => (await status("/reckon/api/health")) === 200);
  // Caddy keeps connections for two minutes, nginx for one. A request sent while Reckon closes its end is lost.
  const direct = await fetch(`http://127.0.0.1:${own}/api/health`);
  expect(Number(/timeout=(\d+)/.exec(direct.headers.get("keep-alive") ?? "")?.[1])).toBeGreaterThan(120);
  const bare = await fetch(`${site}/reckon`, { redirect: "manual" });
  expect([bare.status, new URL(bare.headers.get("location") as string, `${site}/reckon`).pathname]).toEqual([
    308,
    "/reckon/",
  ]);
  expect(await (await fetch(`${site}/reckon/`)).text()).toContain('href="/reckon/docs"');
  const large = await fetch(`${site}/reckon/api/telemetry/ingest`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": "203.0.113.9" },
    body: JSON.stringify({ entries: [{ seq: 1, payload: "x".repeat(3_000_000) }] }),
  });
  // Reckon's own answer, as JSON, to a body of a size that proxies refuse unless they are told otherwise.
  expect([large.status, large.headers.get("content-type")]).toEqual([401, expect.stringContaining("json")]);
  const metadata = await fetch(`${site}/.well-known/oauth-authorization-server/reckon`);
  expect(await metadata.json()).toMatchObject({ issuer: `${site}/reckon` });
  expect(await status("/elsewhere")).toBe(404);
  expect(server.stderr()).not.toContain("203.0.113.9");
}

describe("samples", () => {
  it.skipIf(noNginx)("nginx serves Reckon below a sub-path", async () => {
    const folder = newFolder();
    const { key, cert } = makeCertificate();
    writeFileSync(join(folder, "key.pem"), key);
    writeFileSync(join(folder, "cert.pem"), cert);
    const [port, tls] = [await freePort(), await freePort()];
    const proxied = await behind(port);
    const site = replaced(sample("nginx.conf"), {
      "    listen 443 ssl;": `    listen 127.0.0.1:${tls} ssl;\n    listen 127.0.0.1:${port};`,
      "    listen [::]:443 ssl;\n": "",
      "/etc/ssl/example.com/fullchain.pem": join(folder, "cert.pem"),
      "/etc/ssl/example.com/key.pem": join(folder, "key.pem"),
      "127.0.0.1:4870": `127.0.0.1:${proxied.own}`,
    });
    startNginx(folder, site);
    await expectProxied(proxied);
  });

  it.skipIf(noNginx)("an old address sends machines on by what move.md has for nginx", async () => {
    const [, block = ""] = /^```nginx\n(.*?)^```$/ms.exec(readFileSync(join(ROOT, "docs/move.md"), "utf8")) ?? [];
    const [old, next] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
    const home = newFolder();
    const agent = async (...args: string[]) => {
      const done = await reckon(["agent", ...args], { env: { HOME: home, XDG_STATE_HOME: join(home, "state") } });
      return [done.code, done.stdout + done.stderr];
    };
    const { directory } = await testData({ devices: 0 });
    const at = (url: string) => testServer(directory, { args: ["--port", new URL(url).port] });
    const first = await at(old);
    const { stdout } = await reckon(["code", "create", "--team", "Acme", "--data", directory]);
    expect(await agent("connect", old, stdout.trim(), "--yes")).toEqual([0, expect.stringContaining("Connected")]);
    await first.end();
    const second = await at(next);
    const site = replaced(block, { "https://new.example": next });
    startNginx(newFolder(), `server { listen ${new URL(old).host};\n${site} }`);
    await until("the old address answers", () =>
      fetch(old, { redirect: "manual" }).then(
        ({ status }) => status === 308,
        () => false,
      ),
    );
    expect(await agent("run")).toEqual([0, expect.any(String)]);
    expect(await agent("status")).toEqual([0, expect.stringContaining(next)]);
    await second.end();
  });

  it.skipIf(noCaddy)("Caddy serves Reckon below a sub-path", async () => {
    const folder = newFolder();
    const env = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
    const file = join(ROOT, "docs/samples/Caddyfile");
    const judge = ["validate", "--adapter", "caddyfile", "--config", file];
    expect(spawnSync("caddy", judge, { env: { ...process.env, ...env } }).status).toBe(0);
    const port = await freePort();
    const proxied = await behind(port);
    const site = replaced(sample("Caddyfile"), {
      "example.com {": `http://127.0.0.1:${port} {`,
      "127.0.0.1:4870": `127.0.0.1:${proxied.own}`,
    });
    writeFileSync(join(folder, "Caddyfile"), `{\n\tadmin off\n}\n${site}`);
    start("caddy", ["run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")], env);
    await expectProxied(proxied);
  });

  it.skipIf(noSystemd)("the unit is accepted by systemd, and leaves the service few rights", () => {
    const file = join(newFolder(), "reckon.service");
    writeFileSync(
      file,
      replaced(sample("reckon.service"), {
        "/usr/bin/reckon serve": "/bin/true",
        "User=reckon": "User=daemon",
        "Group=reckon": "Group=daemon",
      }),
    );
    const judged = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
    expect([judged.status, judged.stderr]).toEqual([0, ""]);
    const security = spawnSync("systemd-analyze", ["security", "--offline=yes", "--no-pager", file], {
      encoding: "utf8",
    });
    const exposure = /Overall exposure level for reckon\.service: ([\d.]+)/.exec(security.stdout)?.[1];
    expect(Number(exposure)).toBeLessThanOrEqual(2);
  });

  it.skipIf(!composer)("the compose file is accepted, and one with a mistake is refused", () => {
    const [command, ...args] = composer as readonly [string, ...string[]];
    const judged = (file: string) =>
      spawnSync(
        command,
        args.map((word) => (word === COMPOSE ? file : word)),
        { encoding: "utf8" },
      );
    expect(judged(COMPOSE)).toMatchObject({ status: 0 });
    const wrong = join(newFolder(), "compose.yaml");
    writeFileSync(wrong, replaced(sample("compose.yaml"), { "    read_only: true": "    read_only: [true]" }));
    expect(judged(wrong).status).not.toBe(0);
  });

  it("the compose file asks the image for what it has", () => {
    const { services, volumes } = parse(sample("compose.yaml"));
    expect(Object.keys(services)).toEqual(["reckon"]);
    const { image, environment, ports, volumes: mounts } = services.reckon;
    expect(image).toBe(`reckon:${version}`);
    // This refuses invalid values; an unknown name would be ignored.
    readConfig({}, environment);
    const names = Object.keys(environment);
    expect(names.filter((name) => !CONFIGURATION.includes(`| \`${name}\``))).toEqual([]);
    expect(ports).toEqual(["127.0.0.1:4870:4870"]);
    expect(mounts).toEqual([`${Object.keys(volumes)[0]}:/${DATA}`]);
  });

  it.skipIf(noCurl)("the steps of the workflow run, with the executable that they fetched and checked", async () => {
    const folder = newFolder();
    const executable = join(folder, "fetched");
    writeFileSync(executable, SCRIPT);
    const sum = execFileSync("sha256sum", [executable], { encoding: "utf8" }).slice(0, 64);
    const steps = [...sample("ci.yml").matchAll(/^ {8}run: \|\n((?: {10}.*\n|\n)+)/gm)].map(([, text = ""]) => text);
    expect(steps.length).toBe(2);
    mkdirSync(join(folder, "temp"));
    chmodSync(executable, 0o644);
    const env = {
      ...process.env,
      RUNNER_TEMP: join(folder, "temp"),
      GITHUB_PATH: join(folder, "path"),
      RECKON_URL: `file://${executable}`,
      RECKON_SHA256: sum,
    };
    const shell = (text = "", more = {}) =>
      spawnSync("bash", ["-e", "-o", "pipefail", "-c", text], { encoding: "utf8", env: { ...env, ...more } });
    expect(shell(steps[0], { RECKON_SHA256: "0".repeat(64) }).status).toBe(1);
    expect(shell(steps[0]).status).toBe(0);
    const PATH = `${readFileSync(env.GITHUB_PATH, "utf8").trim()}:${process.env.PATH}`;
    const tested = shell(steps[1], { PATH });
    expect([tested.status, tested.stdout]).toEqual([0, expect.stringContaining('"captureMode"')]);
  });
});
