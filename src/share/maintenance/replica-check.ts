import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Core } from "../../core.ts";
import { isoInstant } from "../../kit/clock.ts";
import { fail, invalid, unavailable } from "../../kit/problem.ts";
import { isOtherRunning } from "../../kit/processes.ts";
import type { Steps } from "../../kit/steps.ts";
import { type DeliveryFacts, deliveriesAfter } from "../../log/log.ts";
import { hasTree, logImports, rootOfFirst, treeHead } from "../../platform/transparency/transparency.ts";
import { type CopyFacts, inspectCopy, type Parts } from "./copies.ts";

const ENDS = ["SIGTERM", "SIGINT"] as const;

export interface CheckedReplica extends CopyFacts {
  /** Leaves of the running database that are not in the replica; null where that is not at hand. */
  readonly behind: number | null;
  /** What restoring it took; null where it was restored before. */
  readonly restoreMs: number | null;
  readonly verifyMs: number;
}

/**
 * Lets a command restore a replica, and judges what came. The file is removed again.
 * @param folder where to; it must exist
 * @param command a program and its arguments, `{}` for the file that it is to write
 * @returns what `work` does with the file and the milliseconds that restoring took
 */
export async function withRestored<T>(
  { clock }: Parts,
  folder: string,
  command: readonly string[],
  work: (file: string, restoreMs: number) => Promise<T>,
): Promise<T> {
  if (!command.some((word) => word.includes("{}")))
    fail(
      invalid,
      "say {} where the command is given the file to write: -- litestream restore -o {} s3://bucket/reckon",
    );
  if (!existsSync(folder)) fail(invalid, `${folder} is no directory, so nothing can be put there`);
  removeLeftovers(folder);
  const place = mkdtempSync(join(resolve(folder), `replica-check-${process.pid}-`));
  try {
    const file = join(place, "replica.db");
    const began = clock.monotonic();
    await carryOut(command.map((word) => word.replaceAll("{}", file)));
    if (!existsSync(file)) fail(unavailable, "the command ended well and wrote no file");
    return await work(file, Math.round(clock.monotonic() - began));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Removes what checks left that were killed: whole copies of the database. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, pid] = /^replica-check-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || isOtherRunning(Number(pid))) continue;
    try {
      rmSync(join(folder, name), { recursive: true, force: true });
    } catch {
      // Another user's, in a folder for all.
    }
  }
}

/** Runs a command; what it says goes to our standard error, as our result is on standard output. */
async function carryOut([program = "", ...args]: readonly string[]): Promise<void> {
  // Whoever ends us, as a timer does after its time, ends that: the check failed then, and what was written is removed. Heard before it
  // begins, for a busy machine may take a while over its beginning.
  const end = (signal: NodeJS.Signals) => void child.kill(signal);
  for (const signal of ENDS) process.on(signal, end);
  const child = spawn(program, args, { stdio: ["ignore", 2, 2] });
  const ended = once(child, "close").catch((error: Error) =>
    fail(unavailable, `${program} cannot be run: ${error.message}`),
  );
  const [code, signal] = (await ended.finally(() => {
    for (const one of ENDS) process.off(one, end);
  })) as [number | null, string | null];
  if (code !== 0) fail(unavailable, `${program} ended with ${signal ?? code}`);
}

/**
 * Verifies a restored replica: by itself, and as the beginning of the running database's log that lacks nothing but the newest.
 * @param live the running database; undefined where it is not at hand
 * @param askedAt when restoring began, in milliseconds since the epoch
 * @param maxLagMs what came longer before that must be in it
 * @throws Problem saying what is wrong with it
 */
export async function checkReplica(
  parts: Parts,
  live: Core | undefined,
  file: string,
  { askedAt, maxLagMs, restoreMs }: { askedAt: number; maxLagMs: number; restoreMs: number | null },
  steps: Steps,
): Promise<CheckedReplica> {
  const began = parts.clock.monotonic();
  const facts = await inspectCopy(parts, file, steps);
  steps("comparing with the running database");
  const behind = live && hasTree(live) ? compare(live, facts, askedAt - maxLagMs) : null;
  return { ...facts, behind, restoreMs, verifyMs: Math.round(parts.clock.monotonic() - began) };
}

/** @returns how many leaves it lacks */
function compare(live: Core, { head }: CopyFacts, until: number): number {
  const { size } = treeHead(live);
  const has = head?.id ?? 0;
  if (has > size)
    fail(
      invalid,
      `the replica has ${has} leaves and the running database ${size}: it is of another, or this one went back`,
    );
  if (head && rootOfFirst(live, has).toString("hex") !== head.chainSha256)
    fail(invalid, `the replica's log is not the beginning of the running database's (${has} leaves of ${size})`);
  const missing = firstDelivered(live, has);
  if (missing && missing.receivedAt < until)
    fail(unavailable, `the replica stopped: delivery ${missing.id} of ${isoInstant(missing.receivedAt)} is not in it`);
  return size - has;
}

/** The first delivery to this instance behind a leaf: those that came with a team bear the instants at which another took them. */
function firstDelivered(live: Core, after: number): DeliveryFacts | undefined {
  const [first] = deliveriesAfter(live, after, 1);
  const came = first && logImports(live).find(({ leaf, facts }) => leaf - facts.leaves <= first.id && first.id < leaf);
  return came ? firstDelivered(live, came.leaf) : first;
}
