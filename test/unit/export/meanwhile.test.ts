import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { parseVkey } from "../../../src/kit/transparency/note.ts";
import { checkArchive } from "../../../src/share/export/check.ts";
import { exportArchive, resolveScope } from "../../../src/share/export/export.ts";
import { startInstance } from "../../support/instance.ts";

it("makes an archive that proves itself, whatever is delivered meanwhile", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const { token, team } = await t.device();
  const deliver = async (i: number) => {
    const json = { sessions: [{ id: "s", outcome: `${i}`, spans: [{ id: "a", i }, { id: `${i}` }] }] };
    expect((await t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
    const entries = [{ seq: i, payload: { i } }];
    expect((await t.post("/api/telemetry/ingest", { token, json: { entries } })).status).toBe(200);
  };
  for (let i = 1; i <= 100; i++) await deliver(i);
  let now = 0;
  const clock = vi.spyOn(t.clock, "monotonic").mockImplementation(() => (now += 20));
  onTestFinished(() => clock.mockRestore());
  const folder = mkdtempSync(join(tmpdir(), "reckon-export-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "a.tar.zst");
  let isDone = false;
  const writing = (async () => {
    for (let i = 101; !isDone; i++) await deliver(i);
  })();
  await exportArchive(core, resolveScope(core, { team: team.id }), async (archive) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of archive) chunks.push(chunk);
    await writeFile(file, Buffer.concat(chunks));
    return 0;
  });
  isDone = true;
  await writing;
  const key = parseVkey((await t.call("GET", "/ledger/key")).text.trim());
  const { steps } = await checkArchive(file, key, []);
  expect(steps.filter(({ ok }) => !ok)).toEqual([]);
});
