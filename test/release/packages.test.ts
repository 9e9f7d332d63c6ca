import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeImage, platform } from "../../build/release/oci.ts";
import { makeDeb, makeRpm } from "../../build/release/packages.ts";
import { newFolder } from "../support/folder.ts";

const SOURCE = { version: "1.2.3-rc.1", commit: "c".repeat(40), epoch: 1_700_000_000 };

/** Why a program cannot be used here; printed once. */
function without(command: string): string | undefined {
  if (!spawnSync(command, ["--version"]).error) return undefined;
  console.log(`tests of packages that need ${command} are skipped: it is not installed`);
  return command;
}
const noDeb = without("dpkg-deb");
const noRpm = without("rpmbuild") ?? without("rpm");
const noReadelf = without("readelf");
const noSkopeo = without("skopeo");

/** A folder with `reckon`, a small program in place of the executable. */
function scratch(): { folder: string; executable: string } {
  const folder = newFolder();
  const executable = join(folder, "reckon");
  copyFileSync("/bin/true", executable);
  chmodSync(executable, 0o755);
  return { folder, executable };
}

function fresh(folder: string, name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

/** Makes a package twice, the second time with other times on the disk. @returns where the first lies. */
async function twice(make: typeof makeDeb): Promise<string> {
  const { folder, executable } = scratch();
  const made: string[] = [];
  for (const round of ["first", "second"]) {
    const [work, out] = [fresh(folder, `${round}-work`), fresh(folder, round)];
    made.push(join(out, await make({ source: SOURCE, target: "linux-x64", executable, work, out })));
    utimesSync(executable, 1, 1);
  }
  const [first, second] = made as [string, string];
  expect(readFileSync(first).equals(readFileSync(second))).toBe(true);
  return first;
}

/** What another program says, of times in UTC. */
const ask = (command: string, ...args: string[]) =>
  execFileSync(command, args, { encoding: "utf8", env: { ...process.env, TZ: "UTC", LC_ALL: "C" } });

describe("packages", () => {
  it.skipIf(noDeb)("for Debian are the same each time, and own what they should", async () => {
    const file = await twice(makeDeb);
    expect(ask("dpkg-deb", "--field", file, "Package", "Version", "Architecture").trim().split("\n")).toEqual([
      "Package: reckon",
      "Version: 1.2.3~rc.1",
      "Architecture: amd64",
    ]);
    const listed = ask("dpkg-deb", "--contents", file);
    expect(listed).toMatch(/^-rwxr-xr-x root\/root .* \.\/usr\/bin\/reckon$/m);
    expect(listed).toMatch(/^-rw-r--r-- root\/root .* \.\/usr\/lib\/systemd\/system\/reckon\.service$/m);
    expect(listed.split("\n").filter((line) => line && !line.includes(" 2023-11-14 "))).toEqual([]);
    expect(ask("dpkg-deb", "--info", file, "conffiles")).toBe("/etc/default/reckon\n");
    for (const script of ["postinst", "prerm", "postrm"])
      execFileSync("sh", ["-n"], { input: ask("dpkg-deb", "--info", file, script) });
  });

  it.skipIf(noRpm)("for RPM are the same each time, and keep settings that were changed", async () => {
    const file = await twice(makeRpm);
    const asked = "%{NAME} %{VERSION} %{ARCH} %{BUILDTIME} %{BUILDHOST}";
    expect(ask("rpm", "-qp", "--qf", asked, file)).toBe(`reckon 1.2.3~rc.1 x86_64 ${SOURCE.epoch} reproducible`);
    expect(ask("rpm", "-qcp", file)).toBe("/etc/default/reckon\n");
    expect(ask("rpm", "-qlvp", file)).toMatch(/^-rwxr-xr-x +\d+ root +root .* \/usr\/bin\/reckon$/m);
    expect(ask("rpm", "-K", "--nosignature", file)).toContain("digests OK");
  });

  it.skipIf(noReadelf || process.arch !== "x64")(
    "as an image are the same each time, with what the program needs",
    async () => {
      const { folder, executable } = scratch();
      const [one, two] = [fresh(folder, "one"), fresh(folder, "two")];
      const platforms = [await platform("linux-x64", executable)];
      const name = await makeImage(SOURCE, platforms, one);
      expect(await makeImage(SOURCE, platforms, two)).toBe(name);
      expect(readFileSync(join(one, name)).equals(readFileSync(join(two, name)))).toBe(true);
      const layout = fresh(folder, "layout");
      ask("tar", "-xf", join(one, name), "-C", layout);
      const read = (digest: string) => join(layout, "blobs", digest.replace(":", "/"));
      const parse = (path: string) => JSON.parse(readFileSync(path, "utf8"));
      const index = parse(read(parse(join(layout, "index.json")).manifests[0].digest));
      const manifest = parse(read(index.manifests[0].digest));
      expect(index.manifests[0].platform).toEqual({ architecture: "amd64", os: "linux" });
      const listed = ask("tar", "-tvzf", read(manifest.layers[0].digest), "--numeric-owner");
      expect(listed).toMatch(/^drwx------ 65532\/65532 .* var\/lib\/reckon\/$/m);
      expect(listed).toMatch(/^-rwxr-xr-x 0\/0 .* lib64\/ld-linux-x86-64\.so\.2$/m);
      expect(listed).toMatch(/ usr\/share\/doc\/libc6\/copyright$/m);
      const config = parse(read(manifest.config.digest)).config;
      expect(config).toMatchObject({ User: "65532:65532", Entrypoint: ["/usr/bin/reckon"], Cmd: ["serve"] });
      if (noSkopeo) return;
      const seen = JSON.parse(ask("skopeo", "inspect", `oci-archive:${join(one, name)}:${SOURCE.version}`));
      expect([seen.Architecture, seen.Created]).toEqual(["amd64", "2023-11-14T22:13:20Z"]);
    },
  );
});
