import { zstdDecompressSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { diffSnapshotFile, listVersions, readFile } from "../../../src/record/brain/brain.ts";
import { removeContents } from "../../../src/record/brain/contents.ts";
import { brainExport } from "../../../src/record/brain/export.ts";
import { sealContents } from "../../../src/record/brain/seal.ts";
import { carryOut, requestErasure, resolveTarget } from "../../../src/share/erasure/erasure.ts";
import { filesWith } from "../../support/erasure.ts";
import { startInstance, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { ledgerFaults } from "../../support/ledger-faults.ts";

const ALL = Number.MAX_SAFE_INTEGER;
/** Some 200 kB that compress well. */
const long = (word: string) =>
  `# Grüße\n\n${Array.from({ length: 10_000 }, (_, i) => `${word} ${i % 97} again`).join("\n")}\n`;

let t: TestInstance;
let device: TestDevice;
beforeEach(async () => {
  t = await startInstance();
  device = await t.device();
});

async function send(version: number, files: Readonly<Record<string, string>>, { token } = device) {
  const json = {
    repoKey: "shop",
    version,
    files: Object.entries(files).map(([path, content]) => ({ path, content })),
  };
  expect((await t.post("/api/brain/ingest", { token, json })).status).toBe(200);
}

/** Errors files stay in use, because defects refer to them. */
const ERRORS = { ".claude/brain/errors.md": "## 2026-11-20 loop\n\nIn src/a.ts\n" };

/** Eight versions of one long file beside another that stays, and what everybody has of it. */
async function sendVersions(from = device, word = "marigold") {
  for (let version = 1; version <= 8; version++)
    await send(version, { "long.md": `${long(word)}${version}`, "stays.md": `# ${word} stays`, ...ERRORS }, from);
}

const seal = () => sealContents(t.instance.core, ALL);
const unsealed = () =>
  t.rows("SELECT bytes FROM brain_blobs WHERE block_id IS NULL AND withheld_sha256 IS NULL").map(({ bytes }) => bytes);
const blocks = () =>
  t.rows("SELECT id, team_id AS teamId, content FROM brain_blocks ORDER BY id").map(({ content, ...block }) => ({
    ...block,
    text: zstdDecompressSync(content as Buffer).toString(),
  }));

/** What readers are shown of a team's versions, and whether the ledger holds. */
function shown({ team, deviceId } = device) {
  const { core } = t.instance;
  const versions = listVersions(core, team.id, "shop").rows.map(({ snapshotId }) => snapshotId);
  return {
    contents: versions.map((id) => readFile(core, team.id, "shop", "long.md", id)?.content),
    stays: versions.map((id) => readFile(core, team.id, "shop", "stays.md", id)?.content),
    diffs: versions.map((id) => diffSnapshotFile(core, team.id, "shop", id, versions[0] as number, "long.md")),
    exported: [...brainExport.snapshots(core, deviceId, null)],
    faults: ledgerFaults(core),
  };
}

describe("sealing of brains", () => {
  it("moves a team's contents into blocks once they fill one, and readers are shown the same", async () => {
    const other = await t.device();
    await send(1, { "long.md": long("lavender") }, other);
    await sendVersions();
    await t.instance.settle();
    const before = shown();
    expect([before.contents.length, before.contents[0], before.faults]).toEqual([8, `${long("marigold")}8`, []]);
    expect(await seal()).toBeGreaterThan(800_000);
    // Contents that do not fill a block wait; so do all of the other team's.
    expect([blocks().length, unsealed().length]).toEqual([1, 4]);
    expect(blocks()[0]).toMatchObject({ teamId: device.team.id, text: expect.stringContaining("marigold stays") });
    expect(Buffer.byteLength(blocks()[0]?.text as string)).toBeLessThanOrEqual(1024 * 1024);
    expect(t.rows("SELECT length(content) < 10000 AS isSmall FROM brain_blocks")).toEqual([{ isSmall: 1 }]);
    expect(shown()).toEqual(before);
    expect(await seal()).toBe(0);
    expect(t.count("defect_files")).toBe(1);
    expect(t.instance.core.store.db.pragma("foreign_key_check")).toEqual([]);
  });

  it("knows sealed contents that come again, in full or by their digest", async () => {
    await sendVersions();
    await seal();
    const blobs = t.count("brain_blobs");
    await send(9, { "long.md": `${long("marigold")}1` });
    expect(t.count("brain_blobs")).toBe(blobs);
    expect(shown().contents[0]).toBe(`${long("marigold")}1`);
    expect(shown().faults).toEqual([]);
  });

  it("leaves withheld and altered contents where they are, and goes on with the rest", async () => {
    await sendVersions();
    t.rows("UPDATE brain_blobs SET content = content || 'x' WHERE id = 2 RETURNING id");
    await seal();
    expect(t.rows("SELECT id FROM brain_blobs WHERE block_id IS NULL ORDER BY id")[0]).toEqual({ id: 2 });
    expect(blocks()).toHaveLength(1);
    expect(shown().faults).toMatchObject([{ kind: "brain", problem: "content" }]);
  });

  it("moves nothing when one of its files is erased meanwhile, and the others' contents with the next run", async () => {
    await sendVersions();
    const before = shown().contents;
    const [{ id }] = t.rows("SELECT id FROM brain_blobs WHERE content LIKE '%again%1' AND bytes > 1000");
    const sealing = seal();
    // While the block is being compressed.
    removeContents(t.instance.core, [id]);
    expect([await sealing, blocks()]).toEqual([0, []]);
    await seal();
    expect(blocks()).toHaveLength(1);
    expect(shown().contents).toEqual(before.with(-1, undefined));
  });

  it("moves a block at a time, and a content larger than a block by itself", async () => {
    await send(1, { "large.md": "marigold ".repeat(120_000).slice(0, 1024 * 1024 + 1) });
    await sendVersions(await t.device(device.team));
    expect(await sealContents(t.instance.core, 1)).toBe(1024 * 1024 + 1);
    expect(blocks()).toHaveLength(1);
    await seal();
    expect(blocks()).toHaveLength(2);
    expect(shown().faults).toEqual([]);
  });

  it("shows nothing in place of a damaged or missing block's contents, which the ledger check reports", async () => {
    await sendVersions();
    await seal();
    t.rows("UPDATE brain_blocks SET content = zeroblob(9) RETURNING id");
    expect(shown().contents.at(-1)).toBe("");
    expect(shown().faults.length).toBeGreaterThan(3);
  });
});

describe("erasing what lies in blocks", () => {
  const erase = async (target: Parameters<typeof resolveTarget>[1]) => {
    const { core } = t.instance;
    return carryOut(core, await requestErasure(core, resolveTarget(core, target), "they wanted it", COMMAND_LINE));
  };

  it("packs the remaining contents of a block anew, and leaves nothing of the erased ones in any file", async () => {
    const leaves = await t.device(device.team);
    for (let version = 1; version <= 4; version++) {
      await send(version, { "long.md": `${long("lavender")}${version}`, "both.md": "# kept by both" });
      await send(version, { "gone.md": `${long("marigold")}${version}`, "both.md": "# kept by both" }, leaves);
    }
    await seal();
    const text = () => blocks().map((block) => block.text);
    expect(text().join()).toContain("marigold");
    const before = shown().contents.filter((content) => content !== undefined);
    const [{ id }] = blocks() as [{ id: number }];
    expect(await erase({ device: leaves.deviceId })).toMatchObject({ snapshots: 4, files: 4 });
    expect(blocks().map((block) => block.id)).toEqual([id + 1]);
    expect([text().join().includes("marigold"), text().join().includes("kept by both")]).toEqual([false, true]);
    expect(filesWith(t.directory, "marigold")).toEqual([]);
    expect(shown().contents).toEqual(before);
    expect(shown().faults).toEqual([]);
    await erase({ device: device.deviceId });
    expect([t.count("brain_blobs"), t.count("brain_blocks")]).toEqual([0, 0]);
  });

  it("removes a block that cannot be read any more", async () => {
    const leaves = await t.device(device.team);
    await send(1, { "gone.md": `${long("marigold")}` }, leaves);
    await sendVersions(device, "lavender");
    await seal();
    t.rows("UPDATE brain_blocks SET content = zeroblob(9) RETURNING id");
    await erase({ device: leaves.deviceId });
    expect([t.count("brain_blocks"), shown().contents.length]).toEqual([0, 8]);
  });
});
