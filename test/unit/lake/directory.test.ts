import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isWindows } from "../../../src/kit/files.ts";
import { directoryPlace } from "../../../src/share/lake/directory-place.ts";
import { newFolder } from "../../support/folder.ts";

it.skipIf(isWindows)("writes through no link that lies in the place of a file that is not whole yet", async () => {
  const [root, elsewhere] = [newFolder(), join(newFolder(), "theirs")];
  writeFileSync(elsewhere, "precious", { mode: 0o600 });
  mkdirSync(join(root, "spend"));
  symlinkSync(elsewhere, join(root, "spend", ".a.parquet.part"));
  await directoryPlace(root).put("spend/a.parquet", Buffer.from("whole"));
  expect([readFileSync(elsewhere, "utf8"), lstatSync(elsewhere).mode & 0o777]).toEqual(["precious", 0o600]);
  const made = join(root, "spend", "a.parquet");
  expect([lstatSync(made).isFile(), readFileSync(made, "utf8")]).toEqual([true, "whole"]);
});
