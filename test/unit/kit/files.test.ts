import { lstatSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isWindows, writeFileAtomically } from "../../../src/kit/files.ts";
import { newFolder } from "../../support/folder.ts";

it.skipIf(isWindows)("writes to a device without putting a file in its place", () => {
  const path = join(newFolder(), "nothing");
  symlinkSync("/dev/zero", path);
  writeFileAtomically(path, "text", true);
  expect([lstatSync(path).isSymbolicLink(), lstatSync("/dev/zero").isCharacterDevice()]).toEqual([true, true]);
});

it("replaces a file that may be replaced, and no other", () => {
  const path = join(newFolder(), "file");
  writeFileAtomically(path, "one");
  expect(() => writeFileAtomically(path, "two")).toThrow("EEXIST");
  writeFileAtomically(path, "three", true);
  expect(readFileSync(path, "utf8")).toBe("three");
});

it("names the file that it cannot write, not the one that it makes beside it", () => {
  const folder = newFolder();
  for (const [path, code] of [
    [join(folder, "none", "file"), "ENOENT"],
    [folder, "EISDIR"],
  ])
    expect(() => writeFileAtomically(path as string, "text", true)).toThrow(expect.objectContaining({ code, path }));
});
