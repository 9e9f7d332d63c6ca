import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { verifyTeam } from "../../src/identity/teams/teams.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { curatePack } from "../../src/share/packs/packs.ts";
import { addRelease } from "../../src/share/releases/releases.ts";
import type { TestInstance } from "./instance.ts";
import { archiveOf, download, publish, publisher, pushBrain } from "./packs.ts";

const README = `# Cookie rules

What two years of login defects taught us. Drop it into a web shop's brain.

## What is in it

- every **cookie defect** we met, with its root cause
- the prevention rules that ended them

\`\`\`js
res.cookie("sid", id, { path: "/", sameSite: "lax" });
\`\`\`
`;

/** Writes a file that passes for an installer. */
export function installer(t: TestInstance, name = "Reckon Setup 2.4.1.exe", bytes = randomBytes(300_000)): string {
  const folder = join(t.directory, "outside");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

/** Fills what the public pages show: packs of three teams, one of them trusted well, and installers. */
export async function fillSite(t: TestInstance): Promise<void> {
  const { core } = t.instance;
  const acme = await t.team({ name: "Acme Web" });
  const device = await t.device(acme);
  await pushBrain(t, device);
  await publish(t, acme.id, {
    name: "cookie-rules",
    title: "Cookie rules",
    summary: "Two years of login and session defects of a web shop, with the rules that ended them.",
    readme: README,
    license: "MIT",
    tags: ["typescript", "express", "security"],
  });
  await verifyTeam(core, acme.id, true, COMMAND_LINE);
  await curatePack(core, "cookie-rules", { act: "feature" }, COMMAND_LINE);
  t.clock.advance(40 * DAY_MS);
  await publish(t, acme.id, {
    name: "cookie-rules",
    version: "1.1.0",
    title: "Cookie rules",
    summary: "Two years of login and session defects of a web shop, with the rules that ended them.",
    readme: README,
    license: "MIT",
    tags: ["typescript", "express", "security"],
  });
  await publisher(t, "migration-notes", {
    title: "Safe migrations",
    summary: "How we change a large table without stopping anybody, and the four times it went wrong.",
    tags: ["postgres", "sql"],
  });
  await publisher(t, "react-hydration", {
    title: "Hydration mismatches in React, collected over one long winter",
    summary: "Where server and client disagreed.",
    tags: ["react", "typescript"],
  });
  for (let i = 0; i < 3; i++) {
    const { token } = await t.device();
    await download(t, archiveOf("cookie-rules", "1.1.0"), { authorization: `Bearer ${token}` });
  }
  await addRelease(core, { platform: "win32", version: "2.4.1", file: installer(t) }, COMMAND_LINE);
  await addRelease(
    core,
    { platform: "win32", version: "2.4.0", file: installer(t, "Reckon Setup 2.4.0.exe") },
    COMMAND_LINE,
  );
  await addRelease(
    core,
    {
      platform: "win32",
      version: "2.5.0-beta.1",
      url: "https://dl.example.com/reckon-2.5.0-beta.1.exe",
      file: installer(t, "beta.exe"),
    },
    COMMAND_LINE,
  );
}
