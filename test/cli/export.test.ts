import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { rowsOf } from "../faults/support/data.ts";
import { reckon } from "../faults/support/process.ts";
import { deliverAll, personWith } from "../support/erasure.ts";
import { startInstance } from "../support/instance.ts";

/** Unpacks an archive with the system's tar and checks every file against the manifest. @returns texts by path */
function unpack(file: string): { files: Map<string, string>; manifest: { scope: object; files: { path: string }[] } } {
  const folder = mkdtempSync(join(tmpdir(), "reckon-export-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "a.tar"), zstdDecompressSync(readFileSync(file)));
  execFileSync("tar", ["-xf", "a.tar"], { cwd: folder });
  rmSync(join(folder, "a.tar"));
  const manifest = JSON.parse(readFileSync(join(folder, "MANIFEST.json"), "utf8"));
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true, encoding: "utf8" }).filter((one) =>
    one.isFile(),
  );
  const files = new Map<string, string>();
  for (const { parentPath, name } of paths) {
    const path = join(parentPath, name).slice(folder.length + 1);
    if (path !== "MANIFEST.json") files.set(path, readFileSync(join(folder, path), "utf8"));
  }
  const digests = [...files].map(([path, text]) => ({
    path,
    bytes: Buffer.byteLength(text),
    sha256: createHash("sha256").update(text).digest("hex"),
  }));
  expect(manifest.files.toSorted((a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1))).toEqual(
    digests.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  );
  return { files, manifest };
}

const lines = (text: string | undefined) =>
  (text ?? "")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

it("writes everything of a team, a repository or a person into an archive whose digests hold", async () => {
  const t = await startInstance();
  const team = await t.team({ name: "Acme" });
  const [mine, other] = [await t.device(team), await t.device(team)];
  await personWith(t, mine, "ada@example.com");
  await deliverAll(t, mine, "shop", "marigold");
  await deliverAll(t, mine, "till", "crocus");
  await deliverAll(t, other, "till", "lavender");
  await t.close();
  const made = async (name: string, ...args: string[]) => {
    const out = join(t.directory, name);
    const done = await reckon(["export", ...args, "--out", out, "--data", t.directory, "--json"]);
    expect([done.code, done.stderr]).toEqual([0, ""]);
    return { result: JSON.parse(done.stdout), ...unpack(out) };
  };
  const whole = await made("team.tar.zst", "--team", "Acme");
  expect([...whole.files.keys()].filter((path) => !path.startsWith("brain/")).sort()).toEqual([
    "audit/00001.jsonl",
    "checkpoint",
    "deliveries/00001.jsonl",
    "sessions/00001.jsonl",
    "telemetry/00001.jsonl",
  ]);
  expect(lines(whole.files.get("telemetry/00001.jsonl"))).toHaveLength(9);
  expect(lines(whole.files.get("deliveries/00001.jsonl"))).toHaveLength(9);
  expect(whole.result).toMatchObject({
    files: whole.manifest.files.length + 1,
    manifestSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const [snapshot] = lines(whole.files.get("brain/00001.jsonl"));
  expect(whole.files.get(`brain/${snapshot.files[1].sha256}.md`)).toBe("# marigold brain 1");

  const repo = await made("repo.tar.zst", "--repo", "till");
  const text = [...repo.files.values()].join("");
  expect([text.includes("crocus"), text.includes("lavender"), text.includes("marigold")]).toEqual([true, true, false]);
  expect(
    lines(repo.files.get("sessions/00001.jsonl"))
      .map(({ type }) => type)
      .sort(),
  ).toEqual(["label", "label", "label", "label", "session", "session", "span", "span"]);

  const person = await made("ada.tar.zst", "--person", "ada@example.com");
  const theirs = [...person.files.values()].join("");
  expect([theirs.includes("crocus"), theirs.includes("marigold"), theirs.includes("lavender")]).toEqual([
    true,
    true,
    false,
  ]);
  expect(JSON.parse(person.files.get("person.json") ?? "")).toMatchObject({ email: "ada@example.com" });
  expect(theirs).not.toContain("passwordHash");

  expect(rowsOf(t.directory, "SELECT count(*) AS n FROM audit_events WHERE action = 'record.exported'")).toEqual([
    { n: 3 },
  ]);
  const again = await reckon([
    "export",
    "--team",
    "Acme",
    "--out",
    join(t.directory, "team.tar.zst"),
    "--data",
    t.directory,
  ]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("never overwrites")]);
  expect((await reckon(["export", "--out", "x", "--data", t.directory])).code).toBe(2);
});
