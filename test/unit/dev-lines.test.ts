import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { tryIt } from "../../src/surfaces/cli/try-it.ts";

const MADE = {
  baseUrl: "http://127.0.0.1:4870",
  connectCode: "ABCD-1234",
  deviceToken: "rkd_device",
  readToken: "rkr_reader",
};
/** What each line sends: its address, its token and its body. */
const SENT = [
  ["/api/health", undefined, undefined],
  ["/api/connect/exchange", undefined, { code: "ABCD-1234" }],
  ["/api/telemetry/ingest", "rkd_device", { repoKey: "demo" }],
  ["/api/brain/ingest", "rkd_device", { version: 1 }],
  ["/api/brain/search?q=cookie", "rkd_device", undefined],
  ["/api/me/brain/context?q=why+did+the+login+loop", "rkr_reader", undefined],
] as const;

it("prints lines that a POSIX shell reads as curl is meant to", async () => {
  const script = `curl() { printf '%s\\0' "$@"; printf '\\n\\0'; }\n${tryIt(MADE, "linux")}`;
  const { stdout } = await promisify(execFile)("sh", ["-c", script]);
  const calls = stdout.split("\n\0").slice(0, -1);
  expect(calls).toHaveLength(SENT.length);
  for (const [i, [path, token, body]] of SENT.entries()) {
    const words = (calls[i] as string).split("\0").slice(0, -1);
    expect(words[0]).toBe(MADE.baseUrl + path);
    expect(words.includes(`authorization: Bearer ${token}`)).toBe(token !== undefined);
    if (body) expect(JSON.parse(words.at(-1) as string)).toMatchObject(body);
  }
});

it("prints lines for PowerShell on Windows, whose words between single quotes stand as they are", () => {
  const lines = tryIt(MADE, "win32").trim().split("\n\n");
  expect(lines).toHaveLength(SENT.length);
  for (const [i, [path, token, body]] of SENT.entries()) {
    const read =
      /^ *Invoke-RestMethod '([^']+)'(?: -Headers @\{ authorization = 'Bearer ([^']+)' \})?(?: -Method Post -ContentType application\/json -Body '([^']+)')?$/.exec(
        lines[i] as string,
      );
    expect(read?.slice(1, 3)).toEqual([MADE.baseUrl + path, token]);
    expect(read?.[3] && JSON.parse(read[3])).toEqual(body && expect.objectContaining(body));
  }
});
