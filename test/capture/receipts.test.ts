import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readReceipts } from "../../src/capture/capture.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { reckon } from "../faults/support/process.ts";
import { startAgent } from "../support/capture.ts";

/** A machine whose server signs what it takes, as it comes. */
async function signed() {
  const a = await startAgent();
  let count = 0;
  a.server.between = async (path, answer) => {
    const reply = await answer();
    if (!path.endsWith("/ingest")) return reply;
    const headers = new Headers(reply.headers);
    headers.set("reckon-receipt", `signed-${++count}`);
    return new Response(reply.body, { status: reply.status, headers });
  };
  return a;
}

it("keeps the receipt of each delivery with what it is for, and gives them out", async () => {
  const a = await signed();
  a.work("s1", 1);
  await a.pass();
  const at = a.server.clock.now();
  const repo = "github.com/acme/shop";
  // The first request asks how far the stream is.
  const receipts = ["telemetry", "telemetry", "agent-traces"].map((kind, i) => ({
    ...{ at, path: `/api/${kind}/ingest`, repo, receipt: `signed-${i + 1}` },
  }));
  expect(readReceipts(a.capture)).toEqual(receipts);
  const out = join(a.home, "receipts.jsonl");
  const env = { RECKON_AGENT_HOME: a.capture.places.home };
  expect(await reckon(["agent", "receipts", "--out", out], { env })).toMatchObject({ code: 0 });
  const said = receipts.map((receipt) => ({ ...receipt, at: new Date(at).toISOString() }));
  expect(
    readFileSync(out, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(said);
  const { stdout } = await reckon(["agent", "receipts", "--json"], { env });
  expect(JSON.parse(stdout)).toEqual({ receipts: said });
});

it("keeps them for a month, and no more than ten thousand", async () => {
  const a = await signed();
  a.work("s1", 1);
  await a.pass();
  a.capture.db
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10100)
       INSERT INTO receipts (at, path, repo, receipt) SELECT ?, '/api/telemetry/ingest', '', 'r' || i FROM n`,
    )
    .run(a.server.clock.now());
  a.advance(2 * DAY_MS);
  await a.pass();
  expect(readReceipts(a.capture)).toHaveLength(10_000);
  await a.sleep(30 * DAY_MS);
  await a.pass();
  expect(readReceipts(a.capture).filter(({ receipt }) => receipt.startsWith("r"))).toEqual([]);
});
