import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { parseVkey } from "../../../src/kit/transparency/note.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import type { resolveTarget } from "../../../src/share/erasure/erasure.ts";
import { checkArchive } from "../../../src/share/export/check.ts";
import { exportArchive, resolveScope } from "../../../src/share/export/export.ts";
import { eraseNow } from "../../support/erasure.ts";
import { newFolder } from "../../support/folder.ts";
import { startWithDevice, type TestInstance } from "../../support/instance.ts";

/** Makes an archive of a team, or of one repository. @returns the steps of its check that fail */
async function faultsOfArchive(
  t: TestInstance,
  scope: { readonly team: string; readonly repo?: string },
  onBegin = () => {},
) {
  const { core } = t.instance;
  const folder = newFolder();
  const file = join(folder, "a.tar.zst");
  await exportArchive(
    core,
    resolveScope(core, scope),
    async (archive) => {
      onBegin();
      const chunks: Uint8Array[] = [];
      for await (const chunk of archive) chunks.push(chunk);
      await writeFile(file, Buffer.concat(chunks));
      return 0;
    },
    COMMAND_LINE,
  );
  const key = parseVkey((await t.call("GET", "/ledger/key")).text.trim());
  const { steps } = await checkArchive(file, key, []);
  return steps.filter(({ ok }) => !ok);
}

it("makes an archive that proves itself, whatever is delivered meanwhile", async () => {
  const { t, token, team } = await startWithDevice();
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
  let isDone = false;
  const writing = (async () => {
    for (let i = 101; !isDone; i++) await deliver(i);
  })();
  const faults = await faultsOfArchive(t, { team: team.id });
  isDone = true;
  await writing;
  expect(faults).toEqual([]);
});

it.each(["team", "repo"] as const)(
  "makes an archive of a %s that proves itself, whatever is erased meanwhile",
  async (scope) => {
    const { t, core, token, team } = await startWithDevice();
    const post = async (path: string, json: object) =>
      expect((await t.post(path, { token, json: { repoKey: "shop", ...json } })).status).toBe(200);
    const numbers = Array.from({ length: 40 }, (_, i) => i);
    for (const i of numbers) {
      const sessions = [`s${i}`, `t${i}`].map((id) => ({ id, outcome: "ok", spans: [{ id: "a" }, { id: "b" }] }));
      await post("/api/agent-traces/ingest", { sessions, labels: [{ sessionId: `s${i}`, name: `${i}` }] });
      const entries = [0, 1, 2].map((more) => ({ seq: 3 * i + more + 1, payload: { i, more } }));
      await post("/api/telemetry/ingest", { entries });
      await post("/api/brain/ingest", { version: i + 1, files: [{ path: "a.md", content: `# ${i}` }] });
    }
    let now = 0;
    const clock = vi.spyOn(t.clock, "monotonic").mockImplementation(() => (now += 20));
    onTestFinished(() => clock.mockRestore());
    const erase = async (request: Parameters<typeof resolveTarget>[1]) => eraseNow(core, request);
    const began = Promise.withResolvers<void>();
    const erasing = (async () => {
      await began.promise;
      for (const i of numbers.toReversed()) {
        await erase({ session: `s${i}` });
        await erase({ entry: String(3 * i + 2) });
      }
      await erase({ repo: "shop", team: team.id });
    })();
    const named = scope === "team" ? { team: team.id } : { team: team.id, repo: "shop" };
    expect(await faultsOfArchive(t, named, began.resolve)).toEqual([]);
    await erasing;
    expect(await faultsOfArchive(t, named)).toEqual([]);
  },
);

it.each([undefined, "till"])(
  "makes an archive of a repository although one of its sessions moved to %s",
  async (next) => {
    const { t, token, team } = await startWithDevice();
    const deliver = async (repoKey: string | undefined, ...ids: string[]) => {
      const sessions = ids.map((id) => ({ id, outcome: "ok", spans: [{ id: repoKey ?? "none" }] }));
      const labels = [{ sessionId: ids[0], name: repoKey ?? "none" }];
      const json = { repoKey, sessions, labels };
      expect((await t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
    };
    await deliver("shop", "s", "t");
    await deliver(next, "s", "u");
    for (const repo of ["shop", ...(next ? [next] : [])])
      expect(await faultsOfArchive(t, { team: team.id, repo })).toEqual([]);
  },
);
