import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ROOT } from "../../../build/bundle.ts";
import { newFolder } from "../../support/folder.ts";
import { freePort } from "../../support/free-port.ts";
import { until, within } from "./process.ts";

/* The real Litestream, and an S3 server to replicate to. */

/** As docs/replicate.md has it: how often the replicator looks for what is new, and how often it copies that away. */
export const LOOK_MS = 500;
export const INTERVAL_MS = 500;

export const LITESTREAM = process.env.RECKON_TEST_LITESTREAM ?? "litestream";
const VERSITYGW = process.env.RECKON_TEST_VERSITYGW ?? "versitygw";
/** The version that the runbook pins: earlier ones stopped unnoticed, and what another does was not seen. */
const [, PINNED = ""] = /Litestream (\d+\.\d+\.\d+)/.exec(readFileSync(join(ROOT, "docs/replicate.md"), "utf8")) ?? [];
const found = spawnSync(LITESTREAM, ["version"], { encoding: "utf8" });
export const noLitestream = found.status !== 0 || found.stdout.trim().replace(/^v/, "") !== PINNED;
export const noVersitygw = spawnSync(VERSITYGW, ["--version"]).status !== 0;
if (noLitestream)
  console.log(
    `tests with Litestream are skipped: ${PINNED} is not installed (RECKON_TEST_LITESTREAM names it elsewhere)${found.stdout ? `, but ${found.stdout.trim()}` : ""}`,
  );
else if (noVersitygw)
  console.log("tests with Litestream and S3 are skipped: versitygw is not installed (RECKON_TEST_VERSITYGW)");

export const KEYS = { access: "reckon-test", secret: "reckon-test-secret" };

// Its S3 client does not take a bundle of certificates that the environment names.
const { AWS_CA_BUNDLE: _, ...env } = process.env;

/** A process of somebody else's program, ended with the test. */
export function start(program: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const child: ChildProcess = spawn(program, args, { env: { ...env, ...more }, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (text: Buffer) => {
      said += text.toString();
    });
  const ended = once(child, "close").then(([code]): unknown => code);
  const end = async () => {
    child.kill("SIGKILL");
    await within(ended, `${program} to end`);
  };
  onTestFinished(end);
  return { end, ended, said: () => said };
}

/** Where replicas go. */
export interface Place {
  readonly name: string;
  /** Of one replica: its lines of Litestream's configuration, and the folder in which it arrives. */
  at(name: string): { readonly lines: readonly string[]; readonly folder: string };
  /** What happens to the place in a round; nothing happens to a directory. */
  fate(round: number): Fate;
  kill(): Promise<void>;
  /** Makes it answer again. */
  mend(): Promise<void>;
}

/**
 * What happens to the server that holds the replica: it stays, it is killed with the others, before them, or before them and is started
 * again.
 */
export type Fate = "stays" | "killed with them" | "killed before" | "killed, started again";
const FATES: readonly Fate[] = ["killed with them", "killed before", "stays", "killed, started again"];

export function directoryPlace(): Place {
  const root = newFolder();
  const nothing = async () => {};
  return {
    name: "directory",
    at: (name) => ({ lines: ["type: file", `path: ${join(root, name)}`], folder: join(root, name) }),
    fate: () => "stays",
    ...{ kill: nothing, mend: nothing },
  };
}

export async function s3Place(): Promise<Place & { readonly url: string }> {
  const root = newFolder();
  mkdirSync(join(root, "reckon"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { access, secret } = KEYS;
  const args = ["--access", access, "--secret", secret, "--port", `127.0.0.1:${port}`, "posix", root];
  const startGateway = async () => {
    const gateway = start(VERSITYGW, args);
    await until("the S3 server listens", () => gateway.said().includes("listening"));
    return gateway;
  };
  let gateway: Awaited<ReturnType<typeof startGateway>> | undefined = await startGateway();
  return {
    name: "S3",
    url,
    at: (name) => ({
      folder: join(root, "reckon", name),
      lines: [
        "type: s3",
        "bucket: reckon",
        `path: ${name}`,
        `endpoint: ${url}`,
        "region: us-east-1",
        "force-path-style: true",
        `access-key-id: ${access}`,
        `secret-access-key: ${secret}`,
      ],
    }),
    fate: (round) => FATES[(round - 1) % FATES.length] as Fate,
    async kill() {
      await gateway?.end();
      gateway = undefined;
    },
    async mend() {
      gateway ??= await startGateway();
    },
  };
}

const hasFiles = (place: string) =>
  existsSync(place) && readdirSync(place, { recursive: true }).some((name) => String(name).endsWith(".ltx"));

/** Replicates a data directory. */
export async function replicate(directory: string, target: ReturnType<Place["at"]>) {
  const config = join(newFolder(), "litestream.yml");
  const lines = [...target.lines, `sync-interval: ${INTERVAL_MS}ms`].map((line) => `      ${line}`);
  const db = join(directory, "reckon.db");
  writeFileSync(
    config,
    ["dbs:", `  - path: ${db}`, `    monitor-interval: ${LOOK_MS}ms`, "    replica:", ...lines, ""].join("\n"),
  );
  const running = start(LITESTREAM, ["replicate", "-config", config]);
  await until("something is replicated", () => hasFiles(target.folder)).catch((error: Error) => {
    throw new Error(`${error.message}: ${running.said()}`);
  });
  return { end: running.end, restore: [LITESTREAM, "restore", "-config", config, "-o", "{}", db] };
}
