import * as v from "valibot";
import { baseUrlOf } from "../../kit/base-url.ts";
import { etagMatches } from "../../kit/etag.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { fail, problem } from "../../kit/problem.ts";
import { endpoint, Reply, unchanged } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import { latestRelease } from "./list.ts";
import { PLATFORM_NAMES, platformOf } from "./rules.ts";

const unsupportedPlatform = problem({
  name: "unsupportedPlatform",
  status: 404,
  code: "unsupported-platform",
  message: "There are no installers for this platform.",
});
const notAvailable = problem({
  name: "notAvailable",
  status: 404,
  code: "not-available",
  message: "No installer for this platform is registered.",
});

const example = {
  url: "https://reckon.example.com/download/files/win32/2.4.1/Reckon-Setup-2.4.1.exe",
  version: "2.4.1",
  sha512: "z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
};

/** Where the newest desktop installer is, for updaters and download buttons. */
export const downloadLatest = endpoint(
  {
    id: "downloadLatest",
    method: "GET",
    path: "/api/download/latest",
    summary: "The newest desktop installer",
    tag: "Download",
    auth: "none",
    query: v.object({
      // Read leniently: what is none of ours is answered 404, not 400.
      platform: v.optional(
        v.pipe(
          v.string(),
          v.metadata({ enum: Object.keys(PLATFORM_NAMES) }),
          v.description("Any other answers 404, with the address of the download page."),
        ),
        "win32",
      ),
    }),
    ok: v.object({
      url: v.pipe(v.string(), v.url()),
      version: v.pipe(v.string(), v.description("By semver.org; a pre-release only where there is nothing else.")),
      sha512: v.pipe(
        v.string(),
        v.description("SHA-512 of the file in base64, as electron-updater's `latest.yml` has it."),
      ),
    }),
    also: [unchanged],
    faults: inShape("download", unsupportedPlatform, notAvailable),
    limits: [],
    cache: "public, max-age=300",
    example: { query: { platform: "win32" }, ok: example },
  },
  ({ core, query, header }) => {
    const members = { download: `${baseUrlOf(core.config)}/download` };
    const platform = platformOf(query.platform);
    if (!platform) return fail(unsupportedPlatform, { members });
    const release = latestRelease(core, platform);
    if (!release) return fail(notAvailable, { members });
    const { url, version, sha512 } = release;
    const pointer = { url, version, sha512 };
    const etag = `"${sha256Hex(JSON.stringify(pointer)).slice(0, 32)}"`;
    if (etagMatches(header("if-none-match"), etag)) return new Reply<never>(null, { status: 304, headers: { etag } });
    return new Reply(pointer, { headers: { etag } });
  },
);
