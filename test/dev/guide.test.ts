import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { startProcess } from "../support/dev.ts";
import { newFolder } from "../support/folder.ts";
import { MAIN, SCRIPT } from "../support/program.ts";

/** The examples of docs/testing-agents.md, run as they stand there. */

const ROOT = join(import.meta.dirname, "../..");
const GUIDE = readFileSync(join(ROOT, "docs/testing-agents.md"), "utf8");
const run = promisify(execFile);

const blocks = [...GUIDE.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = "", text = ""]) => ({
  language,
  text,
  name: /^(?:\/\/|#) ([\w.-]+\.\w+)$/m.exec(text)?.[1],
}));

/** The one example in a language, in a folder of its own. */
function example(language: string, below = tmpdir()): { folder: string; path: string } {
  const found = blocks.filter((block) => block.language === language && block.name);
  expect(found.length).toBe(1);
  mkdirSync(below, { recursive: true });
  const folder = mkdtempSync(join(below, "guide-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, found[0]?.name as string);
  writeFileSync(path, found[0]?.text as string);
  return { folder, path };
}

/** An environment in which `reckon` is the program under test. */
function environment(folder: string): NodeJS.ProcessEnv {
  const command = join(folder, "reckon");
  writeFileSync(command, SCRIPT);
  chmodSync(command, 0o755);
  return { ...process.env, PATH: `${folder}:${process.env.PATH}` };
}

const installed = async (command: string) =>
  run(command, ["--version"]).then(
    () => true,
    () => false,
  );

describe("the guide to testing agents", () => {
  it("has a TypeScript example that passes", async () => {
    // Below the repository, where it finds vitest as it would in a project that has it.
    const { folder } = example("ts", join(ROOT, "dist"));
    const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
    const env = { ...environment(folder), NO_COLOR: "1" };
    const { stdout } = await run(process.execPath, [vitest, "run", "--root", folder], { env });
    expect(stdout).toMatch(/Tests +3 passed \(3\)/);
  });

  it("has a Python example that passes", async ({ skip }) => {
    if (!(await installed("python3"))) skip("no python3");
    const { folder, path } = example("python");
    const { stderr } = await run("python3", ["-W", "error", path], { env: environment(folder) });
    expect(stderr).toMatch(/Ran 3 tests[\s\S]*OK/);
  });

  it("has a shell example that passes", async ({ skip }) => {
    if (!(await installed("bash")) || !(await installed("curl"))) skip("no bash or no curl");
    const { folder, path } = example("bash");
    const { stdout } = await run("bash", [path], { env: environment(folder) });
    expect(stdout.trim()).toBe("signed in");
  });

  it("has two lines to begin a script with, after which the instance is there and says why it refuses", async ({
    skip,
  }) => {
    if (!(await installed("bash")) || !(await installed("curl"))) skip("no bash or no curl");
    const folder = newFolder();
    const [begin] = blocks.filter((block) => block.language === "bash" && !block.name);
    const [control = ""] = blocks.find(({ language }) => language === "sh")?.text.split("\n") ?? [];
    const text = `${begin?.text}${control}
control clock '{"freeze": true}'
control clock '{"advance": "soon"}' || echo "refused with $?"
kill $RECKON_PID; wait`;
    const { stdout } = await run("bash", ["-ec", text], { cwd: folder, env: environment(folder) });
    expect(stdout).toContain('"frozen": true');
    // A refusal says why, and ends a script that began with "set -e".
    expect(stdout).toMatch(/"error": "\\"advance\\" must be[\s\S]*refused with 22/);
  });

  it("has control requests that all do what they say", async ({ skip }) => {
    if (!(await installed("bash")) || !(await installed("curl"))) skip("no bash or no curl");
    const t = await startProcess(["--empty"]);
    const env = { ...process.env, RECKON_CONTROL_URL: t.controlUrl, RECKON_DEVICE_ID: t.deviceId };
    const [block] = blocks.filter(({ language }) => language === "sh");
    expect(block?.text.match(/^control \w/gm)?.length).toBeGreaterThan(10);
    // A rotation needs a token that is good: the lines before it expire it, so each begins at the seed.
    const text = block?.text.replace(/^control (?=\w+[ /])/gm, "control reset '{}' && control ");
    const { stdout } = await run("bash", ["-ec", text ?? ""], { env });
    expect(stdout).not.toContain('"ok": false');
    expect(stdout).toContain('"subscription": "canceled"');
  });

  it("names every option of the command and every control route", async () => {
    const { stdout: help } = await run(process.execPath, [MAIN, "dev", "--help"]);
    for (const [option] of help.matchAll(/^ +--(?!help)[\w-]+/gm)) expect(GUIDE).toContain(option.trim());
    const t = await startProcess(["--empty"]);
    const { routes } = (await (await fetch(t.controlUrl)).json()) as { routes: { path: string }[] };
    for (const { path } of routes) expect(GUIDE).toContain(path);
  });
});
