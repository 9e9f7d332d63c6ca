import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { DataDirectoryInUse } from "../../src/kit/errors.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { carryOut, planErasure, requestErasure, resolveTarget } from "../../src/share/erasure/erasure.ts";
import { backup, examine, inspectCopy, restore, restoreCopy } from "../../src/share/maintenance/maintenance.ts";
import { erasureProgress } from "../../src/surfaces/cli/erase.ts";
import { launch, until } from "../faults/support/process.ts";
import { newFolder } from "../support/folder.ts";
import { startInstance, startWithDevice } from "../support/instance.ts";
import { stopTime } from "../support/time.ts";

const SOURCES = resolve(import.meta.dirname, "../../src/surfaces/cli");

/** A process that shows a step, and is held up in it until a byte comes. @param columns of its terminal; null without one */
function atWork(columns: number | null, work: string): ChildProcessWithoutNullStreams {
  const script = `
    import { readSync } from "node:fs";
    import { stepsOn } from ${JSON.stringify(join(SOURCES, "progress.ts"))};
    import { PROCESS_IO } from ${JSON.stringify(join(SOURCES, "output.ts"))};
    const steps = stepsOn(${columns}, 0, 10);
    const heldUp = () => readSync(0, Buffer.alloc(1));
    ${work}`;
  return spawn(process.execPath, ["--input-type=module", "-e", script]);
}

/** What takes the place of the line before. */
const ANEW = "\r\x1b[K";

/** @returns what it writes to standard error, once that has a text */
async function shows(child: ChildProcessWithoutNullStreams, what: string): Promise<() => string> {
  let written = "";
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    written += piece;
  });
  await until(`it shows ${what}`, () => written.includes(what));
  return () => written;
}

it("long work is shown while it lets nothing else happen, and the line is gone before the result", async () => {
  const child = atWork(
    80,
    `steps("verifying the ledger")(0.5);
     heldUp();
     PROCESS_IO.out("it verifies\\n");`,
  );
  const [printed, exited] = [text(child.stdout), once(child, "close")];
  const written = await shows(child, `${ANEW}verifying the ledger ${"█".repeat(10)}${"░".repeat(10)} 50 %, 0:0`);
  child.stdin.end("\n");
  expect(await exited).toEqual([0, null]);
  expect(await printed).toBe("it verifies\n");
  expect(written().endsWith(ANEW)).toBe(true);
  expect(written()).not.toContain("\n");
});

it("a step takes the place of the one before, and a failure is told on a line of its own", async () => {
  const child = atWork(
    50,
    `steps("copying the database")("31 files");
     steps("checking the structure of what was copied to where it is to lie");
     heldUp();
     PROCESS_IO.err("reckon: it is damaged\\n");`,
  );
  const exited = once(child, "close");
  const written = await shows(child, `${ANEW}checking the structure of what was copied`);
  child.stdin.end("\n");
  expect(await exited).toEqual([0, null]);
  expect(written().endsWith(`${ANEW}reckon: it is damaged\n`)).toBe(true);
  // Wider than the terminal, a line would begin another each time.
  expect(written()).not.toContain("to where it");
});

it("without a terminal, long work prints a plain line now and then", async () => {
  const child = atWork(
    null,
    `steps("exporting")("31 files");
     heldUp();
     PROCESS_IO.err("done\\n");`,
  );
  const exited = once(child, "close");
  const written = await shows(child, "exporting: 31 files, 0:0");
  child.stdin.end("\n");
  expect(await exited).toEqual([0, null]);
  expect(written()).toMatch(/^(?:exporting: (?:31 files, )?0:\d\d\n)+done\n$/);
});

it("work that is short shows nothing", async () => {
  const child = atWork(null, `stepsOn(80, 60_000, 10)("copying")(0.5); PROCESS_IO.err("done\\n");`);
  child.stdin.end("\n");
  expect(await text(child.stderr)).toBe("done\n");
});

it("backups, restores and the doctor name each step of theirs that takes long", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const seen: string[] = [];
  const steps = (what: string) => {
    seen.push(what);
    return () => {};
  };
  const stepsOf = async (work: () => unknown) => {
    seen.length = 0;
    await work();
    return [...seen];
  };
  const file = join(newFolder(), "copy.db");
  await backup(core, file);
  const read = ["checking the structure", "verifying the ledger"];
  expect(await stepsOf(() => examine(core, steps))).toEqual([read[0], "checking references", read[1]]);
  expect(await stepsOf(() => inspectCopy(core, file, steps))).toEqual(read);
  const inUse = () => expect(() => restore(file, t.directory, "none", steps)).toThrow(DataDirectoryInUse);
  expect(await stepsOf(inUse)).toEqual([]);
  await t.close();
  expect(await stepsOf(() => restore(file, t.directory, "one", steps))).toEqual([
    read[0],
    "copying the database",
    "keeping aside what is there",
  ]);
  const given = { pems: [], passphrase: undefined, newLedgerKey: false };
  expect(await stepsOf(() => restoreCopy(core, file, given, steps, "two"))).toEqual([
    "copying the database",
    ...read,
    "keeping aside what is there",
  ]);
  // Work that cannot end well is not begun: nobody waits for hours to be told that a key is missing.
  rmSync(join(t.directory, "signing-key.pem"));
  const withoutKey = () => restoreCopy(core, file, given, steps, "three");
  expect(await stepsOf(() => expect(withoutKey()).rejects.toThrow(/signing key .* is missing/))).toEqual([
    "copying the database",
  ]);
  expect(readdirSync(join(t.directory, "backups"))).toEqual(["replaced-one", "replaced-two"]);
});

it("an export that is ended with Ctrl+C takes away what it had half made, and says so", async () => {
  const out = join(newFolder(), "acme.tar.zst");
  // A piece comes, and nothing after it.
  const server = createServer((_, response) => {
    response.writeHead(200, { "service-api-version": "1", "content-type": "application/jsonl; charset=utf-8" });
    response.write(`${JSON.stringify({ file: "AAAA" })}\n`);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const run = launch(["--server", `http://127.0.0.1:${port}`, "export", "--team", "Acme", "--out", out], {
    env: { RECKON_TOKEN: `rka_${"a".repeat(36)}` },
  });
  await until("the export has begun", () => existsSync(`${out}.partial`));
  run.child.kill("SIGINT");
  expect(await run.exited).toEqual({ code: null, signal: "SIGINT" });
  expect(run.stderr()).toContain(`reckon: ended by SIGINT; ${out}.partial is removed\n`);
  expect(readdirSync(dirname(out))).toEqual([]);
});

it("names what an erasure still does, without a share, once everything that was counted is gone", async () => {
  const { t, core, token, deviceId } = await startWithDevice();
  const entries = Array.from({ length: 2_500 }, (_, i) => ({ seq: i + 1, payload: { type: "prompt", text: "a" } }));
  for (const some of [entries.slice(0, 1_000), entries.slice(1_000, 2_000), entries.slice(2_000)])
    expect((await t.post("/api/telemetry/ingest", { token, json: { repoKey: "r", entries: some } })).status).toBe(200);
  const told: [string, (number | string)[]][] = [];
  const steps = (what: string) => {
    const done: (number | string)[] = [];
    told.push([what, done]);
    return (one: number | string) => void done.push(one);
  };
  const target = resolveTarget(core, { device: deviceId });
  const { counts } = await planErasure(core, target);
  const erasure = await requestErasure(core, target, "Art. 17", COMMAND_LINE);
  // How much one transaction takes, and so how often it tells, goes by the time.
  stopTime();
  const erased = await carryOut(core, erasure, erasureProgress(counts, steps), steps);
  expect(erased.entries).toBe(2_500);
  expect(t.rows("SELECT completed_at IS NULL AS open, reclaimed_at IS NULL AS unreclaimed FROM erasures")).toEqual([
    { open: 0, unreclaimed: 0 },
  ]);
  expect(told).toEqual([
    ["erasing", [0, 0.4, 0.8]],
    ["erasing what was made of it", []],
    ["taking what was erased from the files", []],
  ]);
});
