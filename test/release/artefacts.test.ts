import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ROOT } from "../../build/bundle.ts";
import { rowsOf } from "../faults/support/data.ts";
import { until } from "../faults/support/process.ts";
import { freePort } from "../support/free-port.ts";
import { makeRepository, textOf, turn } from "../support/turns.ts";

/*
 * What `npm run release` left in dist/release, installed and run. It takes minutes and fetches a Debian, so only with
 * RECKON_TEST_RELEASE=1.
 */

const RELEASE = join(ROOT, "dist/release");

function notHere(): string | undefined {
  if (!process.env.RECKON_TEST_RELEASE) return "RECKON_TEST_RELEASE is not set";
  if (!existsSync(join(RELEASE, "manifest.json"))) return "there is no dist/release";
  return process.getuid?.() === 0 ? undefined : "needs root";
}
const skipped = notHere();
if (skipped) console.log(`tests of finished releases are skipped: ${skipped}`);
const without = (command: string) => (spawnSync(command, ["--version"]).error ? command : undefined);

/** The name of the one artefact that fits. */
const named = (like: RegExp) => readdirSync(RELEASE).find((name) => like.test(name)) as string;

/** On the disk, because programs in it must be allowed to run. */
function scratch(): string {
  const folder = mkdtempSync(join(ROOT, "dist/test-release-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function mountProc(root: string): void {
  mkdirSync(join(root, "proc"), { recursive: true });
  execFileSync("mount", ["-t", "proc", "proc", join(root, "proc")]);
  onTestFinished(() => void execFileSync("umount", [join(root, "proc")]));
}

/** Runs programs for Windows: Wine 10 or newer, since Node.js does not start in older ones. */
const WINE = process.env.RECKON_TEST_WINE;

/**
 * Starts a server, waits until it is healthy, and ends it as a service manager does.
 * @param use what is done with it, by its address, before it ends
 * @param end how it ends
 */
async function expectServes(
  start: (env: Record<string, string>) => ChildProcess,
  use: (url: string) => void = () => {},
  end: readonly [number | null, string | null] = [0, null],
): Promise<void> {
  const port = await freePort();
  const child = start({ RECKON_PORT: String(port), PATH: process.env.PATH ?? "" });
  const exited = once(child, "exit");
  try {
    const health = () =>
      fetch(`http://127.0.0.1:${port}/api/health`).then(
        ({ status }) => status === 200,
        () => false,
      );
    await until("it is healthy", health, 100_000);
    use(`http://127.0.0.1:${port}`);
  } finally {
    child.kill("SIGTERM");
  }
  expect(await exited).toEqual(end);
}

/** Unpacks the image for an architecture as an engine does. @returns the root of its file system */
function unpack(architecture: string): string {
  const folder = scratch();
  const [layout, root] = [join(folder, "layout"), join(folder, "root")];
  for (const path of [layout, root]) mkdirSync(path);
  execFileSync("tar", ["-xf", join(RELEASE, named(/-oci\.tar$/)), "-C", layout]);
  const read = (digest: string) => join(layout, "blobs", digest.replace(":", "/"));
  const parse = (path: string) => JSON.parse(readFileSync(path, "utf8"));
  const index = parse(read(parse(join(layout, "index.json")).manifests[0].digest));
  const found = index.manifests.find(
    (one: { platform: { architecture: string } }) => one.platform.architecture === architecture,
  );
  const [layer] = parse(read(found.digest)).layers;
  execFileSync("tar", ["-xzpf", read(layer.digest), "--numeric-owner", "-C", root]);
  return root;
}

describe.skipIf(skipped)("a finished release", () => {
  it("fits its checksums", () => {
    const judged = spawnSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: RELEASE, encoding: "utf8" });
    expect([judged.status, judged.stderr]).toEqual([0, ""]);
  });

  it.skipIf(process.arch !== "x64")("has an image that serves with nothing but what is in it", async () => {
    const root = unpack("amd64");
    mountProc(root);
    await expectServes((env) =>
      spawn("chroot", ["--userspec", "65532:65532", root, "/usr/bin/reckon", "serve"], {
        env: { ...env, RECKON_DATA: "/var/lib/reckon", RECKON_HOST: "0.0.0.0" },
        stdio: "ignore",
      }),
    );
  });

  it.skipIf(without("qemu-aarch64"))("has an image for arm64 that serves under emulation", async () => {
    const root = unpack("arm64");
    const data = scratch();
    await expectServes((env) =>
      spawn("qemu-aarch64", ["-L", root, join(root, "usr/bin/reckon"), "serve", "--data", data], {
        env,
        stdio: "ignore",
      }),
    );
  });

  it.skipIf(!WINE)("has an executable for Windows that serves, and captures what an agent did there", async () => {
    const folder = scratch();
    const env = { PATH: process.env.PATH, WINEPREFIX: folder, WINEDEBUG: "-all", NODE_SKIP_PLATFORM_CHECK: "1" };
    const executable = join(RELEASE, named(/-win32-x64\.exe$/));
    const said = join(folder, "said.txt");
    const ran = (...args: string[]) => {
      // It accepts only files as its streams.
      const out = openSync(said, "w");
      const { status } = spawnSync(WINE as string, [executable, ...args], { env, stdio: ["ignore", out, out] });
      closeSync(out);
      expect([args[1], status, readFileSync(said, "utf8")]).toEqual([args[1], 0, expect.any(String)]);
      return readFileSync(said, "utf8");
    };
    const onC = (...path: string[]) => join(folder, "drive_c", ...path);
    const data = "C:\\reckon";
    ran("team", "create", "Acme", "--data", data);
    const { code } = JSON.parse(
      /^\{.*^\}/ms.exec(ran("code", "create", "--team", "Acme", "--json", "--data", data))?.[0] ?? "",
    );
    const [user = ""] = readdirSync(onC("users")).filter((name) => name !== "Public");
    const at = Date.now() - 3_600_000;
    mkdirSync(onC("users", user, ".claude/projects/C--shop"), { recursive: true });
    writeFileSync(onC("users", user, ".claude/projects/C--shop/s1.jsonl"), textOf(turn({ n: 1, at, cwd: "C:\\shop" })));
    makeRepository(onC("shop"), "github.com/acme/shop");
    await expectServes(
      (own) =>
        spawn(WINE as string, [executable, "serve", "--data", data], { env: { ...own, ...env }, stdio: "ignore" }),
      (url) => {
        expect(ran("agent", "connect", url, code, "--yes")).toContain("1 session sent");
        expect(readFileSync(onC("users", user, ".claude/settings.json"), "utf8")).toContain("claude-code Stop");
        ran("agent", "disconnect");
        expect(existsSync(onC("users", user, ".claude/settings.json"))).toBe(false);
      },
      [null, "SIGTERM"],
    );
    expect(ran("doctor", "--data", data)).not.toMatch(/\t(?:warning|failed)\t/);
    expect(rowsOf(onC("reckon"), "SELECT repo_key FROM trace_sessions")).toEqual([
      { repo_key: "github.com/acme/shop" },
    ]);
  });

  it.skipIf(without("debootstrap") || process.arch !== "x64")(
    "has a Debian package that installs, serves, and leaves the record when it is purged",
    { timeout: 600_000 },
    async () => {
      const root = join(scratch(), "debian");
      const { VERSION_CODENAME: suite = "stable" } = Object.fromEntries(
        readFileSync("/etc/os-release", "utf8")
          .split("\n")
          .map((line) => line.split("=")),
      );
      const [mirror = ""] = execFileSync("apt-get", ["indextargets", "--format", "$(SITE)"], {
        encoding: "utf8",
      }).split("\n");
      const packages = "--include=libstdc++6,libatomic1";
      execFileSync("debootstrap", ["--variant=minbase", packages, suite, root, mirror], { stdio: "ignore" });
      mountProc(root);
      const file = named(/_amd64\.deb$/);
      copyFileSync(join(RELEASE, file), join(root, "root", file));
      const inside = (...args: string[]) => execFileSync("chroot", [root, ...args], { encoding: "utf8" });
      inside("dpkg", "--install", `/root/${file}`);
      expect(inside("stat", "-c", "%U %a", "/var/lib/reckon")).toBe("reckon 700\n");
      await expectServes((env) =>
        spawn("chroot", ["--userspec", "reckon:reckon", root, "/usr/bin/reckon", "serve"], {
          env: { ...env, RECKON_DATA: "/var/lib/reckon" },
          stdio: "ignore",
        }),
      );
      expect(inside("dpkg", "--purge", "reckon")).toContain("the record stays in /var/lib/reckon");
      expect([existsSync(join(root, "usr/bin/reckon")), existsSync(join(root, "etc/default/reckon"))]).toEqual([
        false,
        false,
      ]);
      expect(existsSync(join(root, "var/lib/reckon/reckon.db"))).toBe(true);
    },
  );
});
