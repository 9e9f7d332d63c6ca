import { describe, expect, it } from "vitest";
import { startInstance } from "../support/instance.ts";

const PATH = "/.well-known/oauth-authorization-server";

const documentOf = (base: string) => ({
  issuer: base,
  device_authorization_endpoint: `${base}/api/cli/device/code`,
  token_endpoint: `${base}/api/cli/device/token`,
  jwks_uri: `${base}/.well-known/jwks.json`,
  grant_types_supported: ["urn:ietf:params:oauth:grant-type:device_code"],
  response_types_supported: [],
  token_endpoint_auth_methods_supported: ["none"],
});

describe("oauthMetadata", () => {
  it("describes the device flow at the public address, whatever the Host header says", async () => {
    const t = await startInstance({ settings: { baseUrl: "https://reckon.example" } });
    const answer = await t.get(PATH, { headers: { host: "evil.example" } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=300");
    expect(answer.body).toEqual(documentOf("https://reckon.example"));
  });

  it.each([
    ["between host and sub-path, as RFC 8414 puts it", `${PATH}/deep/sub`],
    ["behind the sub-path", `/deep/sub${PATH}`],
    ["where a proxy that strips the sub-path asks", PATH],
  ])("is found %s", async (_, path) => {
    const t = await startInstance({ settings: { baseUrl: "https://reckon.example/deep/sub/" } });
    const answer = await t.get(path);
    expect([answer.status, answer.body]).toEqual([200, documentOf("https://reckon.example/deep/sub")]);
  });

  it("is not found under another sub-path", async () => {
    const t = await startInstance({ settings: { baseUrl: "https://reckon.example/sub" } });
    expect((await t.get(`${PATH}/other`)).status).toBe(404);
    expect((await t.get(`${PATH}/sub/more`)).status).toBe(404);
    expect((await t.get("/api/health/sub")).status).toBe(404);
  });

  it("names a key set that holds the key which signs", async () => {
    const t = await startInstance();
    const { jwks_uri } = (await t.get(PATH)).body;
    const { keys } = (await t.get(new URL(jwks_uri).pathname)).body;
    expect(keys.map(({ kid }: { kid: string }) => kid)).toEqual(
      t.rows("SELECT kid FROM signing_keys").map(({ kid }) => kid),
    );
  });
});
