import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { command } from "../support/remote.ts";
import { serve } from "./support/process.ts";
import { testData } from "./support/test.ts";

/** Runs a command that must work. */
async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await command(args);
  expect([args.join(" "), code, code === 0 ? "" : stderr]).toEqual([args.join(" "), 0, ""]);
  return stdout;
}

/** The hashes of the first leaves, as a log's server hands them out to whoever comes, caches among them. */
async function tileOf(url: string, leaves: number): Promise<Buffer> {
  const reply = await fetch(`${url}/ledger/tile/0/000.p/${leaves}`);
  expect([reply.status, reply.headers.get("cache-control")]).toEqual([200, "no-cache"]);
  return Buffer.from(await reply.arrayBuffer());
}

it("an auditor checks what is in the log without the log, and as its witness sees what a restore took away", async () => {
  const data = await testData();
  const away = mkdtempSync(join(tmpdir(), "reckon-auditor-"));
  onTestFinished(() => rmSync(away, { recursive: true, force: true }));
  const directory = ["--data", data.directory];
  const state = join(away, "state.json");
  const deliver = async (url: string, seq: number, payload: object) => {
    const headers = { authorization: `Bearer ${data.devices[0]?.token}`, "content-type": "application/json" };
    const body = JSON.stringify({ repoKey: "shop", entries: [{ seq, payload }] });
    const reply = await fetch(`${url}/api/telemetry/ingest`, { method: "POST", headers, body });
    expect(reply.status).toBe(200);
    return reply.headers.get("reckon-receipt") as string;
  };

  let server = await serve(data.directory);
  await deliver(server.url, 1, { text: "Fix the login test" });
  const key = (await done("ledger", "key", ...directory)).trim();
  await done("ledger", "witness", "--state", state, "--key", key, server.url);
  await done("backup", join(away, "backup.db"), ...directory);
  await deliver(server.url, 2, { text: "and the other" });
  const witnessed = JSON.parse(await done("ledger", "witness", "--json", "--state", state, server.url));
  expect(witnessed.size).toBeGreaterThan(witnessed.previous.size);
  const tile = await tileOf(server.url, witnessed.size);
  const proof = join(away, "entry.proof");
  await done("ledger", "prove", "entry:2", "--out", proof, ...directory);
  await server.end();

  // What the auditor holds needs nothing else: not the data, not the server.
  expect(await done("ledger", "check", proof, "--key", key)).toMatch(/PROVEN/);
  const forged = join(away, "forged.proof");
  const [header = "", extra = "", ...rest] = readFileSync(proof, "utf8").split("\n");
  const told = Buffer.from(extra.slice(6), "base64").toString().replace("and the other", "and not another");
  writeFileSync(forged, [header, `extra ${Buffer.from(told).toString("base64")}`, ...rest].join("\n"));
  const refused = await command(["ledger", "check", forged, "--key", key]);
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining("NOT PROVEN")]);

  // By a restore the second delivery is gone. The log goes on under another name, so nobody signs two trees of one size.
  await done("restore", join(away, "backup.db"), ...directory);
  await done("team", "create", "Another", ...directory);
  for (const words of [["checkpoint"], ["prove", "entry:1"]]) {
    const early = await command(["ledger", ...words, ...directory]);
    expect([early.code, early.stdout, early.stderr]).toEqual([
      1,
      "",
      expect.stringContaining("Start the server on it"),
    ]);
  }
  server = await serve(data.directory);
  await deliver(server.url, 2, { text: "and another" });
  // The same address has another tile now, so no cache may have kept the old one.
  await deliver(server.url, 3, { text: "and a third" });
  expect(await tileOf(server.url, witnessed.size)).not.toEqual(tile);
  const lost = await command(["ledger", "witness", "--state", state, server.url]);
  expect([lost.code, lost.stderr]).toEqual([1, expect.stringContaining("lacks what came after the backup")]);
  const anew = join(away, "anew.json");
  const after = JSON.parse(await done("ledger", "witness", "--json", "--state", anew, "--key", key, server.url));
  expect(after.origin.startsWith(`${key.split("+")[0]}/2-`)).toBe(true);
  expect(await done("ledger", "verify", ...directory)).toContain("deliveries verify");
  // The proof of a lost delivery still holds, under the name that signed it.
  expect(await done("ledger", "check", proof, "--key", key)).toMatch(/PROVEN/);
  await server.end();

  // The growth between two looks, carried on a stick.
  const growth = join(away, "growth");
  writeFileSync(growth, `${await done("ledger", "checkpoint", "--since", String(after.size), ...directory)}`);
  await done("ledger", "witness", "--state", anew, growth);
}, 120_000);
