import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { fetchBase, lockedPackages, pinnedBase, sha512Of } from "./bases.ts";
import { BuildError, hostTarget, metafile, ROOT, readTarget, TARGETS, type Target } from "./bundle.ts";
import { type Digest, readSource, run, type Source, say, sha256Of, sizeOf, toolVersion } from "./release/artefacts.ts";
import { keyName, type ReleaseKey, readSecretKey, signFile, writePublicKey } from "./release/minisign.ts";
import { librariesIn, makeImage, type Platform, platform } from "./release/oci.ts";
import { ARCHITECTURES, type LinuxTarget, makeDeb, makeRpm } from "./release/packages.ts";
import { seal, statement } from "./release/provenance.ts";
import { billOfMaterials } from "./release/sbom.ts";
import { template } from "./release/tree.ts";

const USAGE = `Makes a release of the commit that is checked out. The same commit gives the same files; docs/releasing.md has the conditions.

  node build/release.ts [--out DIR] [--target TARGET]… [--url URL]

  --out     where to: a new folder, or an earlier release, which is replaced; default: dist/release
  --target  one of ${TARGETS.join(", ")}; default: all
  --url     where the files will be offered; makes the Homebrew formula

  RECKON_RELEASE_KEY=FILE signs: a secret key of minisign without password (minisign -G -W).
`;

/** An artefact, and what is known of it. */
interface Artefact extends Digest {
  readonly kind: "executable" | "deb" | "rpm" | "oci-image" | "sbom" | "formula";
  readonly target?: Target;
  readonly bytes: number;
  /** "runs": `--version` was run in this build. "not run": nothing here can run it. */
  readonly state?: "runs" | "built, not run";
}

interface Release {
  readonly source: Source;
  readonly targets: readonly Target[];
  readonly url: string | undefined;
  readonly out: string;
  /** For files on the way; removed in the end. */
  readonly work: string;
  readonly executables: Map<Target, string>;
  readonly artefacts: Artefact[];
  /** What was left out, and why. */
  readonly missing: string[];
  /** Libraries of this machine that are in the image. */
  readonly libraries: Digest[];
}

/** Names of what releases hold. */
const OURS = /^(?:reckon[-_.].*|manifest\.json|provenance\.dsse\.json|SHA256SUMS(?:\.minisig)?)$/;

/** @throws BuildError where a folder, which is emptied, holds anything that no release made, such as releases in folders of their own */
async function requireReplaceable(out: string): Promise<void> {
  const entries = await readdir(out, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  // A release has no folders.
  const foreign = entries.find((entry) => !entry.isFile() || !OURS.test(entry.name));
  if (foreign)
    throw new BuildError(
      `${out} would be emptied, and holds ${foreign.name}, which is of no release: name a new folder`,
    );
}

async function makeRelease(out: string, targets: readonly Target[], url: string | undefined): Promise<void> {
  await requireReplaceable(out);
  const source = await readSource();
  const keyFile = process.env.RECKON_RELEASE_KEY;
  const key = keyFile ? readSecretKey(await readFile(keyFile, "utf8")) : undefined;
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const work = await mkdtemp(join(ROOT, "dist", "releasing-"));
  try {
    const state = { executables: new Map(), artefacts: [], missing: [], libraries: [] };
    const release: Release = { source, targets, url, out, work, ...state };
    for (const target of targets) await makeExecutable(release, target);
    await makeBill(release);
    await makePackages(release);
    if (url) await makeFormula(release, url);
    else release.missing.push("the Homebrew formula: no --url says where the files will be");
    await writeSums(release, key);
    for (const reason of release.missing) say(`not made: ${reason}`);
    say(`${out}: ${release.artefacts.length} artefacts of ${source.version}, commit ${source.commit}`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function add(release: Release, name: string, about: Pick<Artefact, "kind" | "target" | "state">): Promise<void> {
  const file = join(release.out, name);
  const artefact = { name, ...about, bytes: await sizeOf(file), sha256: await sha256Of(file) };
  release.artefacts.push(artefact);
  say(`${artefact.sha256}  ${name} (${artefact.bytes} bytes)`);
}

async function makeExecutable(release: Release, target: Target): Promise<void> {
  const base = await fetchBase(target, join(ROOT, "dist", "bases"));
  run(process.execPath, [join(ROOT, "build", "binary.ts"), "--target", target, "--base", base]);
  const end = target === "win32-x64" ? ".exe" : "";
  const made = join(ROOT, "dist", `reckon${target === hostTarget() ? "" : `-${target}`}${end}`);
  const name = `reckon-${release.source.version}-${target}${end}`;
  await copyFile(made, join(release.out, name));
  release.executables.set(target, join(release.out, name));
  // The build has run it, where it can.
  await add(release, name, { kind: "executable", target, state: target === hostTarget() ? "runs" : "built, not run" });
}

async function makeBill(release: Release): Promise<void> {
  const name = `reckon-${release.source.version}.cdx.json`;
  const bill = await billOfMaterials(release.source, await metafile(), release.targets);
  await writeFile(join(release.out, name), `${JSON.stringify(bill, null, 2)}\n`);
  await add(release, name, { kind: "sbom" });
}

/** Packages for each Linux target, with the tools that there are; the image holds all of them. */
async function makePackages(release: Release): Promise<void> {
  const makers = [
    { kind: "deb", tool: "dpkg-deb", make: makeDeb },
    { kind: "rpm", tool: "rpmbuild", make: makeRpm },
  ] as const;
  const platforms: Platform[] = [];
  for (const [target, executable] of release.executables) {
    if (!(target in ARCHITECTURES)) continue;
    const linux = target as LinuxTarget;
    for (const { kind, tool, make } of makers) {
      if (!toolVersion(tool)) {
        release.missing.push(`the .${kind} for ${target}: no ${tool} here`);
        continue;
      }
      const work = await mkdtemp(join(release.work, `${kind}-`));
      const name = await make({ source: release.source, target: linux, executable, work, out: release.out });
      await add(release, name, { kind, target });
    }
    try {
      platforms.push(await platform(linux, executable));
    } catch (error) {
      if (!(error instanceof BuildError)) throw error;
      release.missing.push(`${target} in the image: ${error.message}`);
    }
  }
  if (platforms.length === 0) return;
  await add(release, await makeImage(release.source, platforms, release.out), { kind: "oci-image" });
  for (const { files } of platforms) release.libraries.push(...librariesIn(files));
}

async function makeFormula(release: Release, url: string): Promise<void> {
  const sum = (target: Target) =>
    release.artefacts.find((one) => one.kind === "executable" && one.target === target)?.sha256;
  const [arm, intel, linuxArm, linuxIntel] = [
    sum("darwin-arm64"),
    sum("darwin-x64"),
    sum("linux-arm64"),
    sum("linux-x64"),
  ];
  if (!arm || !intel || !linuxArm || !linuxIntel) {
    release.missing.push("the Homebrew formula: it needs the executables for macOS and Linux");
    return;
  }
  const text = await template("reckon.rb", {
    URL: url.replace(/\/+$/, ""),
    VERSION: release.source.version,
    DARWIN_ARM: arm,
    DARWIN_X: intel,
    LINUX_ARM: linuxArm,
    LINUX_X: linuxIntel,
  });
  await writeFile(join(release.out, "reckon.rb"), text);
  await add(release, "reckon.rb", { kind: "formula" });
}

/** Writes the manifest, the provenance, and the checksums of everything, which are signed. */
async function writeSums(release: Release, key: ReleaseKey | undefined): Promise<void> {
  const { source, out, artefacts, missing } = release;
  const put = (name: string, text: string) => writeFile(join(out, name), text);
  const { targets, url } = release;
  const manifest = { ...source, node: process.versions.node, targets, ...(url ? { url } : {}), artefacts, missing };
  await put("manifest.json", `${JSON.stringify(manifest, null, 2)}\n`);
  const names = [...artefacts.map(({ name }) => name), "manifest.json"];
  if (key) {
    const subjects = await Promise.all(names.map(async (name) => ({ name, sha256: await sha256Of(join(out, name)) })));
    const made = statement(source, release.targets, tools(), await materials(release), subjects, key);
    await put("provenance.dsse.json", seal(key, made));
    names.push("provenance.dsse.json");
  } else missing.push("signature and provenance: no RECKON_RELEASE_KEY");
  const sums = await Promise.all(names.sort().map(async (name) => `${await sha256Of(join(out, name))}  ${name}\n`));
  await put("SHA256SUMS", sums.join(""));
  if (!key) return;
  const comment = `Reckon ${source.version}, commit ${source.commit}`;
  await put("SHA256SUMS.minisig", signFile(key, Buffer.from(sums.join("")), comment));
  await put("reckon-release.pub", writePublicKey(key));
  say(`signed with the key ${keyName(key)}`);
}

/** Programs whose version shows in the artefacts. */
function tools(): Record<string, string> {
  const named = ["strip", "aarch64-linux-gnu-strip", "dpkg-deb", "rpmbuild"].map((name) => [name, toolVersion(name)]);
  return { node: process.versions.node, ...Object.fromEntries(named.filter(([, version]) => version)) };
}

async function materials({ targets, libraries }: Release) {
  const locked = await lockedPackages();
  const bases = await Promise.all(targets.map(pinnedBase));
  return [
    { name: "package-lock.json", digest: { sha256: await sha256Of(join(ROOT, "package-lock.json")) } },
    ...bases.map((base) => {
      const entry = locked[`node_modules/${base.package}`];
      if (!entry) throw new BuildError(`package-lock.json has no ${base.package}`);
      return { uri: `pkg:npm/${base.package}@${base.version}`, digest: { sha512: sha512Of(entry) } };
    }),
    ...libraries.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
  ];
}

try {
  const { values } = parseArgs({
    options: {
      out: { type: "string" },
      target: { type: "string", multiple: true },
      url: { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (values.help) process.stdout.write(USAGE);
  else {
    const targets = values.target ? [...new Set(values.target)].map(readTarget) : TARGETS;
    await mkdir(join(ROOT, "dist"), { recursive: true });
    await makeRelease(resolve(values.out ?? join(ROOT, "dist", "release")), targets, values.url);
  }
} catch (error) {
  const expected = error instanceof BuildError || (error as { code?: string }).code?.startsWith("ERR_PARSE_ARGS");
  process.stderr.write(`release: ${expected ? (error as Error).message : (error as Error).stack}\n`);
  process.exitCode = 1;
}
