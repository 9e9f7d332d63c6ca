/**
 * Uses the finished executable as somebody would who has neither Node.js nor npm: from a read-only directory, with an
 * empty environment, and (as root) with a noexec /tmp. The last line is `N passed, N failed`.
 *
 *   node build/smoke.ts [EXECUTABLE]
 */
import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { access, chmod, copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { readPackageJSON } from "pkg-types";
import { ROOT } from "./bundle.ts";
import { say } from "./release/artefacts.ts";

/** How long anything may take before it counts as hung. */
const PATIENCE_MILLISECONDS = 30_000;

/**
 * Shell lines that remount, for one command only, the program's directory read-only and /tmp noexec. The order matters:
 * the program's mount must lie above that of /tmp and be split off before /tmp loses its exec bit.
 */
const MOUNTS = `set -e
mount --bind /tmp /tmp
mount --bind "$1" "$1"
mount -o remount,bind,noexec,nosuid,nodev /tmp
mount -o remount,bind,ro "$1"
shift
exec env -i "$@"`;
const SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** A free port, and a thread for large bodies on however small a machine. */
const SETTINGS = ["RECKON_PORT=0", "RECKON_WORKERS=1"];

let passed = 0;
let failed = 0;

/** Runs one check; the first thing it throws is its finding. @returns what the check found out, for later ones. */
async function check<T>(title: string, body: () => T | Promise<T>): Promise<T | undefined> {
  try {
    const found = await body();
    passed += 1;
    say(`ok      ${title}`);
    return found;
  } catch (error) {
    failed += 1;
    say(`FAILED  ${title}: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

function must(condition: unknown, says: string): asserts condition {
  if (!condition) throw new Error(says);
}

const clip = (text: string) => (text.length > 500 ? `${text.slice(0, 500)}…` : text).trim();

interface Place {
  /** Holds the executable and nothing else; not writable. */
  readonly program: string;
  /** For what the executable and these checks write. */
  readonly scratch: string;
  readonly mounted: boolean;
}

type Running = ChildProcessByStdio<null, Readable, Readable>;

/** Starts the executable with `args` in the place, without any environment but `RECKON_PORT` and `RECKON_WORKERS`. */
function start({ program, scratch, mounted }: Place, args: readonly string[]): Running {
  const reckon = join(program, "reckon");
  const [command, ...rest] = mounted
    ? ["unshare", "--mount", "sh", "-c", MOUNTS, "sh", program, ...SETTINGS, reckon, ...args]
    : [reckon, ...args];
  return spawn(command, rest, {
    cwd: scratch,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: PATIENCE_MILLISECONDS,
    // With mounts, the environment is emptied after the shell that makes them.
    env: mounted ? { PATH: SYSTEM_PATH } : Object.fromEntries(SETTINGS.map((each) => each.split("="))),
  });
}

/** Runs a command to its end. @returns its stdout. @throws when it fails, with what it said. */
async function reckon(place: Place, ...args: string[]): Promise<string> {
  const child = start(place, args);
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  must(code === 0, `${signal ?? `exit ${code}`}, stdout «${clip(stdout)}», stderr «${clip(stderr)}»`);
  must(!stderr.includes("Warning"), `stderr has a warning: «${clip(stderr)}»`);
  return stdout;
}

async function reckonJson(place: Place, ...args: string[]): Promise<Record<string, unknown>> {
  const out = await reckon(place, ...args, "--json");
  try {
    return JSON.parse(out);
  } catch {
    throw new Error(`stdout is not one JSON document: «${clip(out)}»`);
  }
}

/** Why the mounts cannot be made here, or undefined when they can. */
function mountTrouble(program: string, scratch: string): string | undefined {
  if (process.platform !== "linux") return "needs Linux";
  if (process.getuid?.() !== 0) return "needs root";
  // A copy of a system program must not run from /tmp any more, and the program's directory must refuse a file.
  const proof = `cp /bin/true "$SCRATCH/true"; ! "$SCRATCH/true" 2>/dev/null && ! touch "$PROGRAM/x" 2>/dev/null`;
  const probe = spawnSync(
    "unshare",
    [
      "--mount",
      "sh",
      "-c",
      MOUNTS,
      "sh",
      program,
      `PATH=${SYSTEM_PATH}`,
      `SCRATCH=${scratch}`,
      `PROGRAM=${program}`,
    ].concat(["sh", "-c", proof]),
    { encoding: "utf8", env: { PATH: SYSTEM_PATH } },
  );
  if (probe.status === 0) return undefined;
  return `unshare or mount is missing or not allowed (${clip(probe.error?.message ?? probe.stderr) || `exit ${probe.status}`})`;
}

async function prepare(executable: string): Promise<Place> {
  await access(executable);
  await mkdir(join(ROOT, "dist"), { recursive: true });
  const program = await mkdtemp(join(ROOT, "dist", "smoke-"));
  const scratch = await mkdtemp(join(process.platform === "linux" ? "/tmp" : tmpdir(), "reckon-smoke-"));
  await copyFile(executable, join(program, "reckon"));
  await chmod(join(program, "reckon"), 0o555);
  await chmod(program, 0o555);
  const trouble = mountTrouble(program, scratch);
  if (trouble) say(`skipped: read-only mount and noexec /tmp: ${trouble}`);
  return { program, scratch, mounted: trouble === undefined };
}

interface Served {
  readonly child: Running;
  readonly url: string;
  readonly stderr: Promise<string>;
}

async function serve(place: Place, data: string): Promise<Served> {
  const child = start(place, ["serve", "--data", data]);
  const stderr = text(child.stderr);
  const lines = createInterface(child.stdout);
  const url = await new Promise<string | undefined>((found) => {
    lines.on("line", (line) => {
      const printed = /listening on (https?:\S+)/.exec(line)?.[1];
      if (printed) found(printed);
    });
    lines.on("close", () => found(undefined));
  });
  if (!url) throw new Error(`ended without a "listening on URL" line: «${clip(await stderr)}»`);
  return { child, url: url.replace(/\/*$/, "/"), stderr };
}

/** Asks the server. @throws unless it answers 200 with a JSON object. */
async function ask(url: string, path: string, body?: unknown, token?: string): Promise<Record<string, unknown>> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers["content-type"] = "application/json";
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  const response = await fetch(new URL(path, url), {
    method: body === undefined ? "GET" : "POST",
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(PATIENCE_MILLISECONDS),
  });
  const answer = await response.text();
  must(response.status === 200, `status ${response.status}: «${clip(answer)}»`);
  return JSON.parse(answer);
}

async function checks(place: Place): Promise<void> {
  const data = join(place.scratch, "data");
  const { version } = await readPackageJSON(ROOT);

  await check("--version prints the version of package.json", async () => {
    const out = await reckon(place, "--version");
    must(out.trim() === version, `«${clip(out)}» instead of ${version}`);
  });
  await check("--help is ours, not that of Node.js", async () => {
    const out = await reckon(place, "--help");
    must(/\bserve\b/.test(out) && /\blicense\b/.test(out), `«${clip(out)}»`);
  });

  const team = await check("team create makes the database and a team", async () => {
    const { teamId, name } = await reckonJson(place, "team", "create", "Smoke", "--data", data);
    must(typeof teamId === "string" && name === "Smoke", `teamId ${teamId}, name ${name}`);
    return teamId;
  });
  const code = await check("code create mints a connect code", async () => {
    const made = await reckonJson(place, "code", "create", "--team", String(team), "--data", data);
    must(typeof made.code === "string" && made.teamId === team, JSON.stringify(made));
    return made.code;
  });

  // Loads fetch, so that its time does not count as the server's.
  await fetch("data:,");
  const startedAt = performance.now();
  const server = await check("serve says where it listens", () => serve(place, data));
  const url = server?.url ?? "http://server-did-not-start.invalid/";
  await check("GET /api/health answers 200", async () => {
    await ask(url, "api/health");
    say(`        first answer ${Math.round(performance.now() - startedAt)} ms after the start`);
  });
  const device = await check("POST /api/connect/exchange gives a device token", async () => {
    const { deviceToken } = await ask(url, "api/connect/exchange", { code, consent: { version: "1" } });
    must(typeof deviceToken === "string", `deviceToken is ${typeof deviceToken}`);
    return deviceToken;
  });
  await check("POST /api/telemetry/ingest stores an entry", async () => {
    const entries = [{ seq: 1, payload: { type: "prompt" } }];
    const { accepted } = await ask(url, "api/telemetry/ingest", { entries }, device);
    must(accepted === 1, `accepted ${accepted}`);
  });
  await check("a thread reads a large delivery", async () => {
    const entries = Array.from({ length: 500 }, (_, i) => ({
      seq: 2 + i,
      payload: { text: "some words ".repeat(20) },
    }));
    const { accepted, maxSeq } = await ask(url, "api/telemetry/ingest", { entries }, device);
    must(accepted === 500 && maxSeq === 501, `accepted ${accepted}, maxSeq ${maxSeq}`);
  });
  await check("GET /openapi.json answers an OpenAPI 3.1 document", async () => {
    const { openapi, paths } = await ask(url, "openapi.json");
    must(String(openapi).startsWith("3.1") && paths, `openapi ${openapi}`);
  });

  const license = join(place.scratch, "license.jwt");
  const pem = join(place.scratch, "pubkey.pem");
  await check("license mint writes a licence while the server runs", async () => {
    await reckon(place, "license", "mint", "--team", String(team), "--out", license, "--data", data);
    must((await readFile(license, "utf8")).split(".").length === 3, "the file holds no JWT");
  });
  await check("license verify accepts it with the published key", async () => {
    const { pubkey } = await ask(url, "api/license/pubkey");
    await writeFile(pem, String(pubkey));
    const { valid } = await reckonJson(place, "license", "verify", license, "--pubkey", pem);
    must(valid === true, `valid is ${valid}`);
  });

  await check("--server writes the archive that a server sends", async () => {
    const scope = ["--all-teams", "--scope", "admin", "--expires", "1h"];
    const made = await reckonJson(place, "api-token", "create", "--name", "smoke", ...scope, "--data", data);
    const token = join(place.scratch, "api-token");
    await writeFile(token, String(made.token));
    const archive = join(place.scratch, "smoke.tar.zst");
    await reckon(place, "--server", url, "--token-file", token, "export", "--team", String(team), "--out", archive);
    const { size } = await stat(archive);
    must(size > 0, "the archive is empty");
  });

  await check("SIGTERM ends the server with exit 0", async () => {
    must(server, "the server did not start");
    const ended = once(server.child, "close");
    server.child.kill("SIGTERM");
    const [exit, signal] = await ended;
    const logged = await server.stderr;
    must(exit === 0, `${signal ?? `exit ${exit}`}: «${clip(logged)}»`);
    must(!logged.includes("workers_unavailable"), `no thread could be started: «${clip(logged)}»`);
  });
}

const executable = resolve(process.argv[2] ?? join(ROOT, "dist", "reckon"));
let place: Place | undefined;
try {
  place = await prepare(executable);
  await checks(place);
} catch (error) {
  failed += 1;
  say(`FAILED  preparing ${executable}: ${(error as Error).message}`);
} finally {
  if (place) {
    await chmod(place.program, 0o755);
    await rm(place.program, { recursive: true, force: true });
    await rm(place.scratch, { recursive: true, force: true });
  }
}
say(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
