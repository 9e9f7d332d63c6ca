import { execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { packArchive } from "../../../src/share/packs/archive.ts";
import { newFolder } from "../../support/folder.ts";

const LONG = `${"folder-with-a-long-name/".repeat(18)}${"ü".repeat(30)}.md`;
const FILES = [
  { path: "notes/b.md", content: Buffer.from("b\n") },
  { path: "a.md", content: Buffer.from("") },
  { path: "Ü.md", content: Buffer.from("größer\n") },
  { path: LONG, content: Buffer.from("deep\n") },
  { path: "-rf.md", content: Buffer.alloc(20_000, "x") },
];

it("gives the same bytes for the same files, in whatever order and whenever they come", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 10, 21) });
  onTestFinished(() => void vi.useRealTimers());
  const once = await packArchive("pack-1.0.0", FILES);
  vi.setSystemTime(Date.UTC(2031, 0, 1));
  const again = await packArchive("pack-1.0.0", FILES.toReversed());
  expect(again.equals(once)).toBe(true);
  // No time and no system in gzip's header (RFC 1952 section 2.3).
  expect([...once.subarray(4, 8), once[9]]).toEqual([0, 0, 0, 0, 255]);
});

it("is unpacked by the system's tar into exactly what was packed", async () => {
  const folder = newFolder();
  const file = join(folder, "pack.tar.gz");
  writeFileSync(file, await packArchive("pack-1.0.0", FILES));
  const names = execFileSync("tar", ["-tzf", file, "--quoting-style=literal"], { encoding: "utf8" }).trim().split("\n");
  expect(names.toSorted()).toEqual(FILES.map(({ path }) => `pack-1.0.0/${path}`).sort());
  execFileSync("tar", ["-xzf", file, "-C", folder]);
  for (const { path, content } of FILES) {
    const unpacked = join(folder, "pack-1.0.0", path);
    expect([path, readFileSync(unpacked).equals(content)]).toEqual([path, true]);
    expect([path, statSync(unpacked).mode & 0o111]).toEqual([path, 0]);
    expect([path, statSync(unpacked).mtime.toISOString()]).toEqual([path, "1980-01-01T00:00:00.000Z"]);
  }
});
