import { createHash } from "node:crypto";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Metafile } from "esbuild";
import { readPackageJSON } from "pkg-types";
import { type LockedPackage, lockedPackages, pinnedBase, sha512Of } from "../bases.ts";
import { BuildError, ROOT, type Target } from "../bundle.ts";
import { packageFolders } from "../notices.ts";
import type { Source } from "./artefacts.ts";

/** Entries of `process.versions` that are no software of others. */
const NO_PARTS = new Set(["node", "modules", "napi", "unicode", "cldr", "tz"]);

interface Component {
  readonly type: "application" | "library" | "platform";
  readonly "bom-ref": string;
  readonly name: string;
  readonly group?: string;
  readonly version: string;
  readonly licenses?: readonly ({ readonly license: { readonly id: string } } | { readonly expression: string })[];
  readonly hashes?: readonly { readonly alg: "SHA-512"; readonly content: string }[];
  readonly purl?: string;
  readonly components?: readonly Component[];
}

/** A bill of materials, CycloneDX 1.6 (ECMA-424). */
export interface Bom {
  readonly $schema: string;
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly serialNumber: string;
  readonly version: 1;
  readonly metadata: { readonly timestamp: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

/**
 * What the executables are made of: packages whose files are in the bundle, Node.js of each target with its parts, and SQLite. The same
 * source gives the same bill.
 */
export async function billOfMaterials(source: Source, metafile: Metafile, targets: readonly Target[]): Promise<Bom> {
  const locked = await lockedPackages();
  const packages = await Promise.all(packageFolders(metafile).map((folder) => packageComponent(folder, locked)));
  const runtimes = await Promise.all(targets.map((target) => runtime(target, locked)));
  const sqlite = sqliteComponent();
  const components = [...packages, ...runtimes, sqlite];
  const own = `pkg:generic/reckon@${source.version}`;
  const better = packages.find(({ name }) => name === "better-sqlite3");
  const { license } = await readPackageJSON(ROOT);
  const body = {
    version: 1,
    metadata: {
      timestamp: new Date(source.epoch * 1_000).toISOString(),
      component: {
        type: "application",
        "bom-ref": own,
        name: "reckon",
        version: source.version,
        licenses: licences(license),
        purl: own,
      },
    },
    components,
    dependencies: [
      { ref: own, dependsOn: components.filter((one) => one !== sqlite).map((one) => one["bom-ref"]) },
      ...(better ? [{ ref: better["bom-ref"], dependsOn: [sqlite["bom-ref"]] }] : []),
    ],
  } as const;
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([source.commit, body]))}`,
    ...body,
  };
}

async function packageComponent(folder: string, locked: Readonly<Record<string, LockedPackage>>): Promise<Component> {
  const { name = "", version = "", license } = await readPackageJSON(join(ROOT, folder));
  const entry = locked[folder];
  if (entry?.version !== version)
    throw new BuildError(`${folder} is ${version}, package-lock.json has ${entry?.version}`);
  return npmComponent("library", name, entry, license);
}

function npmComponent(type: Component["type"], full: string, entry: LockedPackage, license?: string): Component {
  const [name, scope] = full.split("/").reverse() as [string, string?];
  const purl = `pkg:npm/${scope ? `${encodeURIComponent(scope)}/` : ""}${name}@${encodeURIComponent(entry.version)}`;
  return {
    type,
    "bom-ref": purl,
    ...(scope ? { group: scope } : {}),
    name,
    version: entry.version,
    licenses: licences(license ?? entry.license),
    hashes: [{ alg: "SHA-512", content: sha512Of(entry) }],
    purl,
  };
}

/** The package that carries Node.js; every target's has the same parts. */
async function runtime(target: Target, locked: Readonly<Record<string, LockedPackage>>): Promise<Component> {
  const base = await pinnedBase(target);
  const entry = locked[`node_modules/${base.package}`];
  if (!entry) throw new BuildError(`package-lock.json has no ${base.package}`);
  const parts = Object.entries(process.versions)
    .filter(([name, version]) => version && !NO_PARTS.has(name))
    .map(([name, version = ""]): Component => {
      const ref = `${base.package}/${name}@${version}`;
      return {
        type: "library",
        "bom-ref": ref,
        name,
        version,
        purl: `pkg:generic/${name}@${encodeURIComponent(version)}`,
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return { ...npmComponent("platform", base.package, entry, entry.license ?? "MIT"), components: parts };
}

/** SQLite as compiled into better-sqlite3; it has no licence but is in the public domain. */
function sqliteComponent(): Component {
  const database = new Database(":memory:");
  const version = String(database.prepare("SELECT sqlite_version()").pluck().get());
  database.close();
  const purl = `pkg:generic/sqlite@${version}`;
  return { type: "library", "bom-ref": purl, name: "sqlite", version, licenses: licences("blessing"), purl };
}

/** An SPDX identifier, or an expression of several. */
function licences(license: string | undefined): NonNullable<Component["licenses"]> {
  if (!license) return [];
  return /[ ()]/.test(license) ? [{ expression: license }] : [{ license: { id: license } }];
}

/** A UUID of version 8 (RFC 9562) that says which content it is for. */
function uuidOf(content: string): string {
  const bytes = createHash("sha256").update(content).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
