import { execFile, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../build/bundle.ts";
import { newFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { SCRIPT } from "../support/program.ts";
import { makeData, rowsOf } from "./support/data.ts";
import { until } from "./support/process.ts";
import { KEYS, LITESTREAM, noLitestream, noVersitygw, s3Place, start } from "./support/replicas.ts";
import { runKeyPem, testServer } from "./support/test.ts";

/*
 * docs/replicate.md as it is pasted. Its paths lie below a folder of the test's, its S3 server is one on this machine, and what
 * systemd would start is started from the lines of its units.
 */

const DOC = readFileSync(join(ROOT, "docs/replicate.md"), "utf8");
const PATHS = /\/(?:var\/lib\/reckon|safe\/place|mnt\/replica|etc\/litestream|var\/tmp|opt\/reckon|usr\/local\/bin)\b/g;
const DATA = "/var/lib/reckon";
const PASSPHRASE = "/safe/place/passphrase";

const SECTIONS = new Map(DOC.split(/^## /m).map((text) => [text.slice(0, text.indexOf("\n")), text]));

/** The blocks of a section, in their order. */
const blocks = (section: string, language: string): string[] =>
  [...(SECTIONS.get(section) ?? "").matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(
    ([, text = ""]) => text,
  );

/** What a unit starts. */
const execStart = (unit = ""): string => (/^ExecStart=((?:.*\\\n)*.*)$/m.exec(unit)?.[1] ?? "").replaceAll("\\\n", " ");

/** Replaces a text that must occur exactly so. */
function replaced(text: string, from: string, to: string): string {
  expect(text).toContain(from);
  return text.replace(from, to);
}

/** A machine whose root is a folder, with both programs where the runbook has them. */
function machine() {
  const root = newFolder();
  const here = (text: string) => text.replace(PATHS, (path) => root + path);
  for (const path of [
    dirname(DATA),
    "/safe/place",
    "/mnt/replica",
    "/var/tmp",
    "/etc",
    "/opt/reckon",
    "/usr/local/bin",
  ])
    mkdirSync(root + path, { recursive: true });
  writeFileSync(`${root}/opt/reckon/reckon`, SCRIPT);
  chmodSync(`${root}/opt/reckon/reckon`, 0o755);
  const found = spawnSync("sh", ["-c", `command -v '${LITESTREAM}'`], { encoding: "utf8" }).stdout.trim();
  symlinkSync(found, `${root}/usr/local/bin/litestream`);
  const env: NodeJS.ProcessEnv = {
    PATH: `${root}/opt/reckon:${root}/usr/local/bin:${process.env.PATH}`,
    LITESTREAM_ACCESS_KEY_ID: KEYS.access,
    LITESTREAM_SECRET_ACCESS_KEY: KEYS.secret,
  };
  // Asynchronous, because other processes write output meanwhile and wait until this one reads it.
  const run = (text: string) =>
    new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
      const args = ["-e", "-o", "pipefail", "-c", here(text)];
      execFile("bash", args, { env: { ...env, HOME: root } }, (error, stdout, stderr) =>
        resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
      );
    });
  const paste = async (text: string) => {
    const done = await run(text);
    expect(done.status, `${text}${done.stdout}${done.stderr}`).toBe(0);
    return done.stdout;
  };
  const begin = (line: string, more: NodeJS.ProcessEnv = {}) =>
    start("bash", ["-c", `exec ${here(line)}`], { ...env, ...more });
  return { root, here, run, paste, begin };
}

/** What differs between the two ways of the runbook. */
interface Way {
  readonly config: string;
  /** Puts the keys where they outlive the machine. */
  readonly keep: string;
  /** How they are named when they are needed. */
  readonly restore: (text: string) => string;
  readonly next: (config: string) => string;
}

async function survive({ config, keep, restore, next }: Way): Promise<void> {
  const { root, here, run, paste, begin } = machine();
  const data = await makeData({ directory: root + DATA, keyPem: runKeyPem() });
  const server = await testServer(data.directory);
  const send = async (url: string, seq: number) => {
    const headers = { authorization: `Bearer ${data.devices[0]?.token}`, "content-type": "application/json" };
    const body = JSON.stringify({ repoKey: "a", entries: [{ seq, payload: { seq } }] });
    expect((await fetch(`${url}/api/telemetry/ingest`, { method: "POST", headers, body })).status).toBe(200);
  };
  await send(server.url, 1);
  writeFileSync(root + PASSPHRASE, "a passphrase of some length");
  await paste(keep);
  writeFileSync(here("/etc/litestream.yml"), here(config));
  const replicator = begin(execStart(blocks("Begin", "ini")[0]));
  const [check = ""] = blocks("Check it every night", "sh");
  await until("the check is content", async () => (await run(check)).status === 0);
  await paste(check);
  await paste(execStart(blocks("Check it every night", "ini")[0]));
  await send(server.url, 2);
  const isThere = replaced(check, "replica check", "replica check --max-lag 0s");
  await until("the replica has all", async () => (await run(isThere)).status === 0);

  await Promise.all([server.end("SIGKILL"), replicator.end()]);
  // The new machine has nothing of the old one.
  renameSync(root + DATA, join(root, "gone"));
  const lines = restore(blocks("The server is gone", "sh")[0] ?? "");
  const serving = lines.trimEnd().split("\n").at(-1) as string;
  expect(serving).toMatch(/^reckon serve /);
  await paste(replaced(lines, serving, ""));
  const port = await freePort();
  const anew = begin(serving, { RECKON_PORT: String(port) });
  await until("it listens again", () => anew.said().includes("listening on"));
  expect(rowsOf(root + DATA, "SELECT max_seq FROM telemetry_streams")).toEqual([{ max_seq: 2 }]);
  await send(`http://127.0.0.1:${port}`, 3);
  const { origin } = JSON.parse(await paste(`reckon ledger checkpoint --data ${DATA} --json`));
  expect(origin).toMatch(/\/2-[0-9a-f]{8}$/);
  expect((await run(`reckon doctor --data ${DATA}`)).stdout).not.toMatch(/^fail/im);

  writeFileSync(here("/etc/litestream.yml"), here(next(config)));
  const again = begin(execStart(blocks("Begin", "ini")[0]));
  await until("the check is content with the new path", async () => (await run(isThere)).status === 0);
  await Promise.all([again.end(), anew.end()]);
}

describe.skipIf(noLitestream)("the runbook for replicas", () => {
  const [directory = "", s3 = ""] = blocks("Begin", "yaml");
  const [copied = "", wrapped = ""] = blocks("The keys", "sh");

  it("goes on from a directory, with keys that were copied", async () => {
    await survive({
      config: directory,
      keep: copied,
      restore: (text) => text,
      next: (config) => replaced(config, "/mnt/replica/reckon", "/mnt/replica/reckon-2"),
    });
  });

  it.skipIf(noVersitygw)("goes on from S3, with keys that were wrapped", async () => {
    const { url } = await s3Place();
    await survive({
      config: replaced(s3, "https://s3.example.com", url),
      keep: wrapped,
      restore: (text) =>
        replaced(
          text,
          "--key /safe/place/signing-key.pem --key /safe/place/ledger-key.pem",
          `--passphrase-stdin < ${PASSPHRASE}`,
        ),
      next: (config) => replaced(config, "path: production", "path: production-2"),
    });
  });
});

const noSystemd = spawnSync("systemd-analyze", ["--version"]).status !== 0;
if (noSystemd) console.log("the units of the runbook are not judged: systemd-analyze is not installed");

it.skipIf(noSystemd)("the units of the runbook for replicas are ones that systemd takes", () => {
  const place = newFolder();
  const units = [...blocks("Begin", "ini"), ...blocks("Check it every night", "ini")];
  const files = units.map((unit) => {
    const name = /^# \/etc\/systemd\/system\/(\S+)\n/.exec(unit)?.[1] as string;
    const text = unit.replace("User=reckon", "User=daemon").replace(/^ExecStart=\S+/m, "ExecStart=/bin/true");
    writeFileSync(join(place, name), text);
    return join(place, name);
  });
  expect(files).toHaveLength(3);
  const judged = spawnSync("systemd-analyze", ["verify", ...files], { encoding: "utf8" });
  expect([judged.status, judged.stderr]).toEqual([0, ""]);
});
