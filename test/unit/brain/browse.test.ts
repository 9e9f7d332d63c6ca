import { applyPatch } from "diff";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines, hunkLines } from "../../../src/kit/diff.ts";
import {
  fileVersions,
  listFiles,
  listRepositories,
  listVersions,
  readFile,
  searchBrain,
} from "../../../src/record/brain/brain.ts";
import { startInstance, startWithDevice, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { publish as publishFiles } from "../../support/reads.ts";

const publish = async (
  t: TestInstance,
  device: TestDevice,
  version: number,
  files: Record<string, string>,
  repoKey = "shop",
) => {
  await publishFiles(t, device, files, { repoKey, version });
  t.clock.advance(60_000);
  return t.count("brain_snapshots");
};

/** Four snapshots of one repository: two devices, one gap, one rollback kept as evidence. */
async function filled(t: TestInstance) {
  const a = await t.device();
  const b = await t.device(a.team);
  const start = t.clock.now();
  const first = await publish(t, a, 1, { "errors.md": "one\n", "docs/a.md": "a\n" });
  const second = await publish(t, a, 3, { "errors.md": "two\n", "docs/a.md": "a\n", "new.md": "n\n" });
  const evidence = await publish(t, a, 2, { "errors.md": "evil\n" });
  const third = await publish(t, b, 1, { "errors.md": "two\n", "new.md": "n\n" });
  return { a, b, start, first, second, evidence, third, team: a.team.id };
}

describe("a repository", () => {
  it("is listed by its current snapshot, with its files by kind", async () => {
    const t = await startInstance();
    const { b, third, team, start } = await filled(t);
    const other = await t.device();
    await publish(t, other, 1, { "decisions/1.md": "x" }, "theirs");
    expect(listRepositories(t.instance.core, team)).toMatchObject([
      {
        repoKey: "shop",
        snapshotId: third,
        version: 1,
        files: 2,
        bytes: 6,
        deviceId: b.deviceId,
        receivedAt: start + 180_000,
        kinds: { error: 1, note: 1 },
      },
    ]);
  });

  it("is listed with the size of each version, whose paths are looked through once", async () => {
    const { t, core, device } = await startWithDevice();
    const notes = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`docs/notes-${i}/of/it.md`, "x"]));
    await publish(t, device, 1, notes, "large");
    await publish(t, device, 1, { "errors.md": "x" }, "small");
    const kinds = () => listRepositories(core, device.team.id).map((one) => one.kinds);
    expect(kinds()[0]).toBe(kinds()[0]);
    expect(kinds()).toEqual([{ note: 400 }, { error: 1 }]);
    await publish(t, device, 2, { "errors.md": "x", "adr/1.md": "y" }, "small");
    expect(kinds()).toEqual([{ note: 400 }, { error: 1, decision: 1 }]);
  });

  it("lists a snapshot's files with when each content came", async () => {
    const t = await startInstance();
    const { first, second, third, evidence, team, start } = await filled(t);
    const { core } = t.instance;
    expect(listFiles(core, team, "shop")).toMatchObject({
      snapshot: { snapshotId: third },
      current: true,
      files: [
        { path: "errors.md", kind: "error", bytes: 4, changedAt: start + 60_000, orEarlier: false },
        { path: "new.md", changedAt: start + 60_000 },
      ],
    });
    expect(listFiles(core, team, "shop", second)?.files[0]).toMatchObject({
      ...{ path: "docs/a.md", changedAt: start, orEarlier: false },
    });
    expect(listFiles(core, team, "shop", first)).toMatchObject({ current: false, files: [{}, {}] });
    expect(listFiles(core, team, "shop", evidence)).toMatchObject({ current: false, snapshot: { accepted: 0 } });
  });

  it("gives a file's content as it is and as it was", async () => {
    const t = await startInstance();
    const { a, first, evidence, team } = await filled(t);
    const { core } = t.instance;
    expect(readFile(core, team, "shop", "errors.md")).toMatchObject({ content: "two\n", current: true, kind: "error" });
    expect(readFile(core, team, "shop", "errors.md", first)).toMatchObject({
      content: "one\n",
      current: false,
      snapshot: { version: 1, deviceId: a.deviceId },
    });
    expect(readFile(core, team, "shop", "errors.md", evidence)).toMatchObject({ content: "evil\n" });
    expect(readFile(core, team, "shop", "docs/a.md")).toBeUndefined();
  });
});

describe("versions", () => {
  it("say what changed against the accepted one before, on whatever pages", async () => {
    const t = await startInstance();
    const { first, second, evidence, third, team } = await filled(t);
    const seen = [];
    for (let page = listVersions(t.instance.core, team, "shop", { limit: 1 }); ; ) {
      seen.push(...page.rows);
      if (!page.older) break;
      page = listVersions(t.instance.core, team, "shop", { limit: 1, cursor: page.older });
    }
    expect(listVersions(t.instance.core, team, "shop").rows).toEqual(seen);
    expect(seen).toMatchObject([
      { snapshotId: third, version: 1, added: 0, changed: 0, removed: 1, previousId: second },
      { snapshotId: evidence, version: 2, accepted: 0, added: 0, changed: 1, removed: 2, previousId: second },
      { snapshotId: second, version: 3, gap: 1, added: 1, changed: 1, removed: 0, previousId: first },
      { snapshotId: first, version: 1, gap: 0, added: 2, changed: 0, removed: 0, previousId: null },
    ]);
  });

  it("of one file are those in which it changed", async () => {
    const t = await startInstance();
    const { first, second, third, team } = await filled(t);
    const of = (path: string) =>
      fileVersions(t.instance.core, team, "shop", path).rows.map((row) => [row.snapshotId, row.change, row.fileBytes]);
    expect(of("errors.md")).toEqual([
      [second, "changed", 4],
      [first, "added", 4],
    ]);
    expect(of("docs/a.md")).toEqual([
      [third, "removed", null],
      [first, "added", 2],
    ]);
    expect(of("nothing.md")).toEqual([]);
    const page = fileVersions(t.instance.core, team, "shop", "errors.md", { limit: 1 });
    expect(page.rows).toHaveLength(1);
    expect(fileVersions(t.instance.core, team, "shop", "errors.md", { cursor: page.older }).rows).toMatchObject([
      { snapshotId: first },
    ]);
  });

  it("of a file are found even if its path looks like a part of a manifest", async () => {
    const { t, device } = await startWithDevice();
    const odd = 'a",1],["b.md';
    await publish(t, device, 1, { [odd]: "odd", "b.md": "plain" });
    const bytes = (path: string) => fileVersions(t.instance.core, device.team.id, "shop", path).rows[0]?.fileBytes;
    expect([bytes(odd), bytes("b.md"), bytes("a")]).toEqual([3, 5, undefined]);
  });
});

describe("diffs", () => {
  it("keep three lines around a change and number the lines", () => {
    const lines = Array.from({ length: 20 }, (_, i) => `${i + 1}`);
    const { hunks } = diffLines(lines.join("\n"), lines.with(9, "ten").join("\n"));
    expect(hunks).toMatchObject([{ oldStart: 7, newStart: 7 }]);
    expect(hunks[0]?.lines.map(({ kind, text }) => `${kind[0]}${text}`)).toEqual([
      "s7",
      "s8",
      "s9",
      "r10",
      "aten",
      "s11",
      "s12",
      "s13",
    ]);
    expect(diffLines("a", "a")).toEqual({ hunks: [], tooDifferent: false });
    // Splitting so many lines alone would keep everybody else waiting.
    expect(diffLines("\n".repeat(200_000), "\n".repeat(200_000)).tooDifferent).toBe(true);
  });

  it("make a patch of one text that gives the other, whatever stands around the changes", () => {
    const text = fc.array(fc.constantFrom("a\n", "b\n", "c\n"), { maxLength: 12 }).map((lines) => lines.join(""));
    fc.assert(
      fc.property(text, text, fc.integer({ min: 0, max: 3 }), (old, now, context) => {
        const lines = diffLines(old, now, context).hunks.flatMap(hunkLines);
        expect(applyPatch(old, ["--- a", "+++ a", ...lines, ""].join("\n"))).toBe(now);
      }),
    );
  });

  it("give up on texts that have nothing in common instead of taking long", () => {
    const text = (mark: string) => Array.from({ length: 20_000 }, (_, i) => `${mark}${i}`).join("\n");
    expect(diffLines(text("a"), text("b"))).toEqual({ hunks: [], tooDifferent: true });
  });
});

describe("searchBrain", () => {
  it("narrows by kind and by what may be kept, in what it shows and what it counts", async () => {
    const { t, device } = await startWithDevice();
    await publish(t, device, 1, { "errors.md": "# Cookie\n\nlost", "notes.md": "# Cookie\n\njar" });
    const ask = (scope = {}) => searchBrain(t.instance.core, device.team.id, "cookie", scope);
    expect(await ask()).toMatchObject({ query: "cookie", total: 2 });
    expect(await ask({ kind: "error" })).toMatchObject({ total: 1, hits: [{ filePath: "errors.md" }] });
    const keep = ({ path }: { path: string }) => path.startsWith("notes");
    expect(await ask({ keep })).toMatchObject({ total: 1, hits: [{ filePath: "notes.md", repoKey: "shop" }] });
    expect(await ask({ limit: 1 })).toMatchObject({ total: 2, hits: [{}] });
    expect((await ask({ limit: 1 })).hits).toHaveLength(1);
  });
});
