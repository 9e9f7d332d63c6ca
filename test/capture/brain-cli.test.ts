import { readFileSync } from "node:fs";
import { join } from "node:path";
import { applyPatch, parsePatch, type StructuredPatch } from "diff";
import { expect, it } from "vitest";
import { runPass } from "../../src/capture/capture.ts";
import { DAY_MS, isoInstant } from "../../src/kit/clock.ts";
import { reckon } from "../faults/support/process.ts";
import { TestClock } from "../support/instance.ts";
import { startMachine } from "../support/work-tree.ts";

const ERRORS = ".claude/brain/errors.md";
const entry = (day: string) =>
  `## ${day} Login loop\n\n**Status:** open\n\n**Prevention rule:** Set Path on every cookie.\n\n`;

it("prints the briefing of the folder, and shows or writes what the nightly pass would change", async () => {
  // The program goes by the machine's clock, so the binding has to as well.
  const clock = new TestClock();
  clock.jump(Date.now() - clock.now());
  const machine = await startMachine({}, undefined, clock);
  // A briefing lists recent entries, by that clock.
  const [day, before] = [1, 2].map((ago) => isoInstant(Date.now() - ago * DAY_MS).slice(0, 10)) as [string, string];
  const files = { [ERRORS]: entry(day) + entry(before), "AGENTS.md": "Be brief.\n" };
  const root = machine.repository("shop", files);
  await runPass(machine.capture, { force: true });
  await machine.t.instance.settle();
  const instructions = () => readFileSync(join(root, "AGENTS.md"), "utf8");
  const env = { RECKON_AGENT_HOME: machine.capture.places.home };
  const run = (folder: string, ...args: string[]) => reckon(["agent", ...args], { env, under: ["env", "-C", folder] });

  expect(await run(root, "briefing")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`> ${day} Login loop\n`),
  });
  expect(await run(machine.folder, "briefing")).toMatchObject({ code: 0, stdout: "" });
  expect(await reckon(["agent", "nightly"], { env: { RECKON_AGENT_HOME: machine.folder } })).toMatchObject({
    ...{ code: 1, stdout: "", stderr: expect.stringContaining("this machine is not connected") },
  });

  const shown = await run(root, "nightly");
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  const names = `--- ${root}/AGENTS.md\n+++ ${root}/AGENTS.md\n`;
  expect(shown.stdout.startsWith(`${names}@@ -1,1 +1,`)).toBe(true);
  expect(shown.stdout).toMatch(/\n\+Set Path on every cookie\.\n[\s\S]*Nothing was written: --apply does\.\n$/);
  expect((await run(root, "nightly", "--apply", "--dry-run")).stdout).toBe(shown.stdout);
  expect(instructions()).toBe("Be brief.\n");

  expect((await run(root, "nightly", "--apply")).stdout).toMatch(/\nWritten\.\n$/);
  expect(instructions()).toMatch(/^Be brief\.\n\n<!-- [\s\S]* -->\n$/);
  const [patch = ""] = shown.stdout.split("\n\nNothing was written");
  expect(applyPatch("Be brief.\n", parsePatch(patch)[0] as StructuredPatch)).toBe(instructions());
  expect(JSON.parse((await run(root, "nightly", "--apply", "--json")).stdout)).toMatchObject({
    applied: true,
    repositories: [{ root, accepted: 1, proposed: 0, changes: [] }],
    problems: [],
  });
});
