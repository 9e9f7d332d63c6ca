import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { addRelease, removeRelease } from "../../src/share/releases/releases.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";
import { installer } from "../support/site.ts";

const PATH = "/api/download/latest";
const BASE = "http://127.0.0.1:4870";

async function add(t: TestInstance, version: string, url?: string): Promise<Buffer> {
  const bytes = Buffer.from(`installer ${version}`);
  const file = installer(t, `Setup ${version}.exe`, bytes);
  await addRelease(t.instance.core, { platform: "win32", version, file, url }, COMMAND_LINE);
  return createHash("sha512").update(bytes).digest();
}

it("points to the newest installer, with its SHA-512 in base64, for five minutes", async () => {
  const t = await startInstance();
  await add(t, "2.9.0");
  const sha512 = await add(t, "2.10.0");
  await add(t, "2.10.0-rc.1");
  for (const path of [PATH, `${PATH}?platform=win32`, `${PATH}?platform=win`]) {
    const { status, body, headers } = await t.get(path);
    expect([path, status, headers.get("cache-control")]).toEqual([path, 200, "public, max-age=300"]);
    expect(body).toEqual({
      url: `${BASE}/download/files/win32/2.10.0/Setup-2.10.0.exe`,
      version: "2.10.0",
      sha512: sha512.toString("base64"),
    });
  }
});

it("answers 304 to whoever has the pointer, until another release is the newest", async () => {
  const t = await startInstance();
  await add(t, "1.0.0");
  const etag = (await t.get(PATH)).headers.get("etag") as string;
  const again = await t.get(PATH, { headers: { "if-none-match": etag } });
  expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
  await add(t, "1.0.1");
  expect((await t.get(PATH, { headers: { "if-none-match": etag } })).body.version).toBe("1.0.1");
});

it("offers a pre-release only where there is nothing else", async () => {
  const t = await startInstance();
  await add(t, "3.0.0-beta.2");
  await add(t, "3.0.0-beta.11");
  expect((await t.get(PATH)).body.version).toBe("3.0.0-beta.11");
  await add(t, "1.0.0");
  expect((await t.get(PATH)).body.version).toBe("1.0.0");
});

it("names the address that a release was registered with", async () => {
  const t = await startInstance();
  await add(t, "1.0.0", "https://dl.example.com/Setup.exe");
  expect((await t.get(PATH)).body.url).toBe("https://dl.example.com/Setup.exe");
});

it("answers 404 with the download page for other platforms and where nothing is registered", async () => {
  const t = await startInstance({ settings: { baseUrl: "https://reckon.example/sub" } });
  const download = "https://reckon.example/sub/download";
  const none = await t.get(PATH);
  expect([none.status, none.body]).toEqual([404, { error: "not-available", download }]);
  expect(none.headers.get("cache-control")).toBe("no-store");
  await add(t, "1.0.0");
  for (const platform of ["darwin", "linux", "WIN32", "", "__proto__", "constructor", "x".repeat(5_000)]) {
    const { status, body } = await t.get(`${PATH}?platform=${platform}`);
    expect([platform, status, body]).toEqual([platform, 404, { error: "unsupported-platform", download }]);
  }
  expect((await t.get(PATH)).body.url).toBe("https://reckon.example/sub/download/files/win32/1.0.0/Setup-1.0.0.exe");
});

it("refuses a platform that is named twice", async () => {
  const t = await startInstance();
  expect((await t.get(`${PATH}?platform=win&platform=win32`)).status).toBe(400);
});

it("passes over a release whose file is gone, and over one that is withdrawn", async () => {
  const t = await startInstance();
  await add(t, "1.0.0");
  const sha512 = await add(t, "2.0.0");
  await add(t, "3.0.0");
  await removeRelease(t.instance.core, "win32", "3.0.0", COMMAND_LINE);
  expect((await t.get(PATH)).body.version).toBe("2.0.0");
  rmSync(join(t.directory, "releases", sha512.toString("hex")));
  expect((await t.get(PATH)).body.version).toBe("1.0.0");
});
