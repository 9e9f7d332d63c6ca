import { createPublicKey } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { verifyLicense } from "../../src/identity/license/license.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { rotateKey } from "../../src/platform/keys/keys.ts";
import { startInstance, startWithDevice } from "../support/instance.ts";

it("publishes the RSA-3072 public key, cacheable for an hour", async () => {
  const t = await startInstance();
  const answer = await t.get("/api/license/pubkey");
  expect(answer.status).toBe(200);
  expect(answer.headers.get("cache-control")).toContain("max-age=3600");
  expect(answer.body.alg).toBe("RS256");
  expect(answer.body.pubkey).toMatch(/^-----BEGIN PUBLIC KEY-----/);
  expect(createPublicKey(answer.body.pubkey).asymmetricKeyDetails?.modulusLength).toBe(3072);
});

it("answers 501 when signing is switched off", async () => {
  const t = await startInstance({ settings: { signing: "off" } });
  expect((await t.get("/api/license/pubkey")).status).toBe(501);
  expect((await t.get("/.well-known/jwks.json")).body).toEqual({ keys: [] });
});

it("makes its own key at a first start, readable by its owner alone, and keeps it over a restart", async () => {
  const first = await startInstance({ freshKey: true });
  const { pubkey } = (await first.get("/api/license/pubkey")).body;
  expect(statSync(join(first.directory, "signing-key.pem")).mode & 0o777).toBe(0o600);
  await first.close();
  const second = await startInstance({ directory: first.directory });
  expect((await second.get("/api/license/pubkey")).body.pubkey).toBe(pubkey);
});

it("keeps a retired key published, so that what it signed still verifies", async () => {
  const { t, token } = await startWithDevice();
  const before = (await t.get("/api/license/pubkey")).body.pubkey;
  const { license } = (await t.get("/api/license", { token })).body;
  await rotateKey(t.instance.core, COMMAND_LINE);
  const after = (await t.get("/api/license/pubkey")).body.pubkey;
  expect(after).not.toBe(before);
  const { keys } = (await t.get("/.well-known/jwks.json")).body;
  expect(keys).toHaveLength(2);
  const kid = JSON.parse(Buffer.from(license.split(".")[0], "base64url").toString()).kid;
  const retired = createPublicKey({ key: keys.find((key: { kid: string }) => key.kid === kid), format: "jwk" });
  const pem = retired.export({ type: "spki", format: "pem" }) as string;
  expect(pem).toBe(before);
  expect((await verifyLicense(license, pem, new Date(t.clock.now()))).valid).toBe(true);
});
