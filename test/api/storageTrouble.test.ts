import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { baseUrlOf } from "../../src/kit/base-url.ts";
import { cookieNames } from "../../src/platform/http/cookies.ts";
import { PASSWORD } from "../support/accounts.ts";
import { startInstance, startWithDevice, type TestInstance } from "../support/instance.ts";
import { memberOf } from "../support/reads.ts";
import { signedIn as begin } from "../support/sessions.ts";

/** As test/support/cli.ts gives it to everybody. */

/**
 * Makes everything behind the first page of the database unreadable, and lets go of what memory holds of it.
 * @returns what puts it right again
 */
function ruin(t: TestInstance): () => void {
  const { db } = t.instance.core.store;
  db.pragma("wal_checkpoint(TRUNCATE)");
  const path = join(t.directory, "reckon.db");
  const page = db.pragma("page_size", { simple: true }) as number;
  const rest = readFileSync(path).subarray(page);
  const file = openSync(path, "r+");
  onTestFinished(() => closeSync(file));
  writeSync(file, Buffer.alloc(rest.length, 0x5a), 0, rest.length, page);
  db.pragma("shrink_memory");
  return () => {
    writeSync(file, rest, 0, rest.length, page);
    db.pragma("shrink_memory");
  };
}

/** Somebody in a team, with the cookie of their session. */
async function signedIn(t: TestInstance) {
  const user = await memberOf(t, await t.team());
  const { session } = await begin(t.instance.core, user.email, PASSWORD, { ip: "127.0.0.1", userAgent: null });
  return { cookie: `${cookieNames(baseUrlOf(t.instance.core.config)).session}=${session}`, accept: "text/html" };
}

it("answers reads with 503 and Retry-After while the database cannot be read, and as before once it can", async () => {
  const { t, token } = await startWithDevice();
  const paths = ["/api/policy", "/api/brain/search?q=a", "/api/causal-link", "/api/requests/status?ids=req_a"];
  for (const path of paths) expect([path, (await t.get(path, { token })).status]).toEqual([path, 200]);
  const repair = ruin(t);
  for (const path of paths) {
    const answer = await t.get(path, { token });
    expect([path, answer.status, answer.headers.get("retry-after")]).toEqual([path, 503, "5"]);
    expect(answer.body.error).toContain("cannot read or store data");
    expect(answer.text).not.toMatch(/SQLITE|malformed/);
  }
  const license = await t.get("/api/license", { token });
  expect([license.status, license.body.retryable]).toEqual([503, true]);
  expect(t.log.join("")).toContain("malformed");
  repair();
  for (const path of paths) expect([path, (await t.get(path, { token })).status]).toEqual([path, 200]);
});

it("tells a person so on a page, and does not sign them out for it", async () => {
  const t = await startInstance();
  const headers = await signedIn(t);
  expect((await t.get("/overview", { headers })).status).toBe(200);
  const repair = ruin(t);
  for (const path of ["/overview", "/devices", "/docs"]) {
    const page = await t.get(path, { headers });
    expect([path, page.status, page.headers.get("retry-after")]).toEqual([path, 503, "5"]);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(page.text).toContain("cannot read or store data");
    expect(page.headers.get("set-cookie")).toBeNull();
  }
  const nowhere = await t.get("/nothing-here", { headers });
  expect([nowhere.status, nowhere.body.code, nowhere.headers.get("retry-after")]).toEqual([503, "unavailable", "5"]);
  repair();
  expect((await t.get("/overview", { headers })).status).toBe(200);
});
