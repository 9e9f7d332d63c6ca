import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../build/bundle.ts";
import { newFolder } from "../support/folder.ts";

const release = (...args: string[]) =>
  spawnSync(process.execPath, [join(ROOT, "build/release.ts"), ...args], { encoding: "utf8" });

it.each(["0.1.0", "reckon-0.1.0"])("empties no folder that holds anything but a release, as another in %s", (name) => {
  const out = newFolder();
  mkdirSync(join(out, name));
  writeFileSync(join(out, "SHA256SUMS"), "");
  const refused = release("--out", out);
  expect([refused.status, refused.stderr]).toEqual([
    1,
    expect.stringContaining(`holds ${name}, which is of no release`),
  ]);
  expect(readdirSync(out).sort()).toEqual([name, "SHA256SUMS"].sort());
  const file = join(out, "SHA256SUMS");
  expect(release("--out", file)).toMatchObject({ status: 1, stderr: expect.stringContaining("ENOTDIR") });
  expect(readdirSync(out)).toContain("SHA256SUMS");
});
