import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { systemErrorText } from "../src/kit/system-error.ts";
import { BuildError, ROOT } from "./bundle.ts";
import { run, say, sha256Of } from "./release/artefacts.ts";
import { keyName, type ReleaseKey, readPublicKey, verifyFile } from "./release/minisign.ts";
import { unseal } from "./release/provenance.ts";

const USAGE = `Checks a release: its checksums, signatures and provenance, and that its commit, built again, gives the same files.

  node build/verify.ts DIR --key FILE|KEY [--no-rebuild]

  DIR           what "npm run release" made
  --key         the public key, from elsewhere than DIR; without it nothing tells who made the files
  --no-rebuild  leaves out the building, which takes some minutes and installs the packages anew

Ends with exit 1 when anything differs.
`;

/** Files that stand in no checksum file, because they are made after it. */
const UNSUMMED = new Set(["SHA256SUMS", "SHA256SUMS.minisig", "reckon-release.pub"]);

/** What verification needs of a manifest. */
interface Manifest {
  readonly commit: string;
  readonly targets: readonly string[];
  readonly url?: string;
}

let findings = 0;
function check(title: string, fits: boolean): void {
  if (!fits) findings += 1;
  say(`${fits ? "ok      " : "DIFFERS "}${title}`);
}

async function verify(folder: string, key: ReleaseKey | undefined, rebuild: boolean): Promise<void> {
  const sums = await readSums(folder);
  for (const [name, sum] of sums) {
    const found = await sha256Of(join(folder, name)).catch(() => undefined);
    check(found ? `SHA256SUMS of ${name}` : `${name} is there`, found === sum);
  }
  for (const name of await readdir(folder))
    if (!sums.has(name) && !UNSUMMED.has(name)) check(`${name} stands in SHA256SUMS`, false);
  if (key) await verifySignatures(folder, key, sums);
  else say("skipped: signature and provenance: no --key");
  if (findings > 0) return;
  if (rebuild) await verifyByBuilding(folder, sums);
  else say("skipped: building it again");
}

/** @returns checksums by name, as `sha256sum` writes them. @throws BuildError when a line is something else */
async function readSums(folder: string): Promise<Map<string, string>> {
  const lines = (await readFile(join(folder, "SHA256SUMS"), "utf8")).split("\n").filter(Boolean);
  return new Map(
    lines.map((line) => {
      const [, sum, name] = /^([0-9a-f]{64}) [ *]([\w.~+-]+)$/.exec(line) ?? [];
      if (!sum || !name) throw new BuildError(`SHA256SUMS has a line that is none: ${JSON.stringify(line)}`);
      return [name, sum];
    }),
  );
}

async function verifySignatures(folder: string, key: ReleaseKey, sums: ReadonlyMap<string, string>): Promise<void> {
  const signature = await readFile(join(folder, "SHA256SUMS.minisig"), "utf8").catch(() => "");
  const signed = await readFile(join(folder, "SHA256SUMS"));
  const comment = attempt(() => verifyFile(key, signed, signature));
  check(`SHA256SUMS is signed with ${keyName(key)}${comment ? ` (${comment})` : ""}`, comment !== undefined);
  const text = await readFile(join(folder, "provenance.dsse.json"), "utf8").catch(() => "{}");
  const made = attempt(() => unseal(key, text));
  check(`the provenance is signed with ${keyName(key)}`, made !== undefined);
  if (!made) return;
  const subjects = new Map(made.subject.map(({ name, digest }) => [name, digest.sha256]));
  const named = [...sums].filter(([name]) => name !== "provenance.dsse.json");
  check(
    "the provenance names these files",
    named.every(([name, sum]) => subjects.get(name) === sum),
  );
  const { commit } = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as Manifest;
  const source = made.predicate.buildDefinition.resolvedDependencies.find(({ name }) => name === "source");
  check(`the provenance names the commit ${commit}`, source?.digest.gitCommit === commit);
}

function attempt<T>(body: () => T): T | undefined {
  try {
    return body();
  } catch (error) {
    say(`        ${(error as Error).message}`);
    return undefined;
  }
}

/** Builds the commit in a clone of this repository, with packages installed anew, and compares. */
async function verifyByBuilding(folder: string, sums: ReadonlyMap<string, string>): Promise<void> {
  const { commit, targets, url } = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as Manifest;
  const work = await mkdtemp(join(tmpdir(), "reckon-verify-"));
  try {
    const checkout = join(work, "checkout");
    run("git", ["clone", "--quiet", "--no-checkout", ROOT, checkout]);
    run("git", ["checkout", "--quiet", "--detach", commit], { cwd: checkout });
    run("npm", ["ci", "--silent"], { cwd: checkout });
    const made = join(work, "made");
    const args = ["--out", made, ...targets.flatMap((target) => ["--target", target]), ...(url ? ["--url", url] : [])];
    run("npm", ["run", "--silent", "release", "--", ...args], { cwd: checkout, env: { RECKON_RELEASE_KEY: "" } });
    const again = await readSums(made);
    for (const [name, sum] of sums) {
      // Depends on the key, which only the maker of the release has.
      if (name === "provenance.dsse.json") continue;
      check(`${name}, built again from ${commit.slice(0, 12)}`, again.get(name) === sum);
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** @param given a file, or the key itself. */
async function readKey(given: string): Promise<ReleaseKey> {
  const text = await readFile(given, "utf8").catch(() => undefined);
  try {
    return readPublicKey(text ?? given);
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    throw new BuildError(
      `--key ${given}: ${text === undefined ? "there is no such file, and " : ""}it is no public key of minisign`,
    );
  }
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { key: { type: "string" }, "no-rebuild": { type: "boolean" }, help: { type: "boolean" } },
  });
  const [folder] = positionals;
  if (values.help || !folder) process.stdout.write(USAGE);
  else {
    await verify(resolve(folder), values.key ? await readKey(values.key) : undefined, !values["no-rebuild"]);
    say(findings > 0 ? `${findings} differ` : "all of it fits");
  }
  if (!folder && !values.help) process.exitCode = 2;
  else if (findings > 0) process.exitCode = 1;
} catch (error) {
  const { code, path, message, stack } = error as NodeJS.ErrnoException;
  const system = systemErrorText(error);
  const reason = system === undefined ? message : `${path}: ${system}`;
  process.stderr.write(`verify: ${error instanceof BuildError || code ? reason : stack}\n`);
  process.exitCode = code?.startsWith("ERR_PARSE_ARGS") ? 2 : 1;
}
