import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { decideAuthorization } from "../../src/identity/device-flow/device-flow.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { person } from "../support/cli.ts";
import { startInstance } from "../support/instance.ts";
import { memberOf, readToken } from "../support/reads.ts";

const ROOT = join(import.meta.dirname, "../..");
const GENERATOR = "test/client-generator/node_modules/openapi-typescript/bin/cli.js";
/** Named here alone, so that nothing else waits for what only this test makes. */
const FLOW = join(ROOT, "test/client-generator/flow.ts");

const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });

it("has a document from which a client is generated that fits the server, from connecting to disconnecting", async () => {
  mkdirSync(join(ROOT, "dist/client"), { recursive: true });
  run(GENERATOR, "docs/generated/openapi.json", "--output", "dist/client/api.ts");
  // What the flow sends and reads is checked against the generated types, and then done.
  expect(run("node_modules/typescript/bin/tsc", "--project", "test/client-generator")).toBe("");
  const { flow } = await import(FLOW);

  const t = await startInstance({ settings: { port: "0" } });
  const { core } = t.instance;
  const baseUrl = await t.instance.listen();
  const team = await t.team();
  const reader = await memberOf(t, team);
  const ada = await person(t, "ada@example.com");
  const told = await flow({
    baseUrl,
    code: await t.code(team),
    readToken: (await readToken(t, reader.id)).token,
    approve: (userCode: string) => decideAuthorization(core, userCode, "approved", ada, COMMAND_LINE),
    wait: async (seconds: number) => t.clock.advance(seconds * 1_000),
  });
  expect(told).toEqual({
    health: "ok",
    bound: "active",
    told: [1, 1, null],
    beat: true,
    kept: [1, 1],
    traced: 1,
    found: ["errors.md"],
    asked: ["Login loop"],
    policy: "redacted",
    license: ["active", 3, "RS256"],
    again: "already_rotated",
    ended: true,
    refused: 401,
    pending: "authorization_pending",
    me: "ada@example.com",
    status: ["received"],
    marketplace: 0,
    explore: ["byStack", "featured", "new", "trending"],
    latest: "not-available",
  });
  expect(t.rows("SELECT revoked_at IS NOT NULL AS ended FROM devices")).toEqual([{ ended: 1 }]);
});
