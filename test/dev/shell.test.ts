import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { newFolder } from "../support/folder.ts";
import { SCRIPT } from "../support/program.ts";

/** `reckon dev` as scripts start it. */

const run = promisify(execFile);

/** A folder in which `reckon` is the program under test, and how scripts are run there. */
function workshop() {
  const folder = newFolder();
  const command = join(folder, "reckon");
  writeFileSync(command, SCRIPT);
  chmodSync(command, 0o755);
  const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder, TMPDIR: folder };
  const script = (shell: string, text: string) =>
    run(shell, ["-ec", text], { cwd: folder, env, timeout: 60_000 }).then(({ stdout }) => stdout.trim());
  return { folder, script };
}

const GONE = "while kill -0 $RECKON_PID 2>/dev/null; do sleep 0.05; done";

it.each(["sh", "bash"])("hands its environment to a %s that evaluates what it prints, and runs on", async (shell) => {
  const { folder, script } = workshop();
  const said = await script(
    shell,
    `eval "$(reckon dev --port 0 --env --empty &)"
     curl -sf "$RECKON_BASE_URL/api/policy" -H "authorization: Bearer $RECKON_DEVICE_TOKEN" >/dev/null
     curl -sf "$RECKON_CONTROL_URL/state" >/dev/null
     # The command line works on the same instance.
     reckon team list --json | grep -o '"teamId": *"[^"]*"' | head -n 1
     echo "$RECKON_DATA" "$RECKON_TEAM_ID"
     kill $RECKON_PID; ${GONE}`,
  );
  const [listed = "", printed = ""] = said.split("\n");
  const [data = "", teamId = ""] = printed.split(" ");
  expect(teamId).toMatch(/^team_/);
  expect(listed).toContain(teamId);
  expect([data.startsWith(folder), existsSync(data)]).toEqual([true, false]);
});

it.each(["env", "json"])(
  "writes what --write-%s names whole once it answers, and takes it away at its end",
  async (kind) => {
    const { folder, script } = workshop();
    // What an earlier run left, whose address answers no more.
    writeFileSync(join(folder, "local"), "export RECKON_BASE_URL='http://127.0.0.1:1'\n");
    const use =
      kind === "env"
        ? ". ./local"
        : `RECKON_BASE_URL=$(sed -n 's/.*"baseUrl":"\\([^"]*\\)".*/\\1/p' local) RECKON_PID=$(sed -n 's/.*"pid":\\([0-9]*\\).*/\\1/p' local)`;
    const said = await script(
      "sh",
      `reckon dev --port 0 --empty --write-${kind} local >printed &
     while kill -0 $! && [ -e local ] && grep -q 'http://127.0.0.1:1' local; do sleep 0.02; done
     until [ -e local ]; do kill -0 $!; sleep 0.02; done
     ${use}
     curl -sf "$RECKON_BASE_URL/api/health" >/dev/null && stat -c %a local
     kill $RECKON_PID; ${GONE}`,
    );
    expect(said).toBe("600");
    expect(existsSync(join(folder, "local"))).toBe(false);
    // What is printed for people is printed all the same.
    expect(readFileSync(join(folder, "printed"), "utf8")).toContain("Reckon is running at");
  },
);

it("says at once that a file cannot be written, and starts nothing", async () => {
  const { folder, script } = workshop();
  mkdirSync(join(folder, "local"));
  // As somebody writes who wants none of it: root would take the device away.
  symlinkSync("/dev/zero", join(folder, "device"));
  for (const path of ["local", "nowhere/local", "device"])
    expect(await script("sh", `reckon dev --port 0 --empty --write-env ${path} 2>&1 || echo "ended $?"`)).toMatch(
      new RegExp(`${path}[^]*ended 1`),
    );
  expect(statSync(join(folder, "local")).isDirectory()).toBe(true);
  expect(statSync(join(folder, "device")).isCharacterDevice()).toBe(true);
});
