import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createTeam } from "../../../src/identity/teams/teams.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { openFile } from "../../../src/platform/store/store.ts";
import { backup, inspectBackup } from "../../../src/share/maintenance/maintenance.ts";
import { startInstance } from "../../support/instance.ts";
import { MAIN } from "../../support/program.ts";

/** Does something at the first call alone. */
function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}

it("copies one instant while the same process goes on writing", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  await createTeam(core, "Before", COMMAND_LINE);
  const file = join(t.directory, "..", `${t.directory.split("/").at(-1)}.backup`);
  const making = backup(core, file);
  await createTeam(core, "Meanwhile", COMMAND_LINE);
  await making;
  const names = "SELECT name FROM teams WHERE name IN ('Before', 'Meanwhile') ORDER BY name";
  expect(t.rows(names)).toEqual([{ name: "Before" }, { name: "Meanwhile" }]);
  const copy = openFile(file, { readonly: true });
  expect(copy.prepare(names).all()).toEqual([{ name: "Before" }]);
  copy.close();
  rmSync(file);
});

it("is not made with a key that appeared meanwhile, with which no server would start", async () => {
  const t = await startInstance();
  const file = join(t.directory, "..", `${t.directory.split("/").at(-1)}.backup`);
  const rotate = once(() => execFileSync(process.execPath, [MAIN, "key", "rotate", "--data", t.directory]));
  await expect(backup(t.instance.core, file, () => rotate)).rejects.toThrow("its signing key is another");
  expect(existsSync(file)).toBe(false);
  await backup(t.instance.core, file);
  expect(inspectBackup(file)).toMatchObject({ keys: 2 });
  const copy = openFile(file);
  copy.exec(
    "UPDATE backup_files SET content = (SELECT content FROM backup_files WHERE name LIKE 'retired%') WHERE name = 'signing-key.pem'",
  );
  copy.close();
  expect(() => inspectBackup(file)).toThrow(/cannot be restored: its signing key is another/);
  rmSync(file);
});

it("can be made of a database that was itself a backup, and restored unchanged", async () => {
  const t = await startInstance();
  t.instance.core.store.db.exec("CREATE TABLE backup_files (name TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT");
  t.instance.core.store.db.exec("CREATE TABLE backup_facts (made_at TEXT NOT NULL) STRICT");
  const file = join(t.directory, "..", `${t.directory.split("/").at(-1)}.backup`);
  await backup(t.instance.core, file);
  expect(inspectBackup(file)).toMatchObject({ keys: 1 });
  rmSync(file);
});
