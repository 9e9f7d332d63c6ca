import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join, relative, resolve, sep } from "node:path";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import { readPackageJSON } from "pkg-types";
import { notices } from "./notices.ts";

/** The repository's root. */
export const ROOT = resolve(import.meta.dirname, "..");

/** A build that cannot be done here; the message says what would help. */
export class BuildError extends Error {
  override readonly name = "BuildError";
}

/** Platforms that an executable can be built for; better-sqlite3 ships an addon under each of these names. */
export const TARGETS = ["linux-x64", "linux-arm64", "darwin-arm64", "darwin-x64", "win32-x64"] as const;
export type Target = (typeof TARGETS)[number];

/** Files that are embedded in the program: these, and from folders everything that is neither code nor hidden. */
const EMBEDDED = ["schema.sql", "src", "docs"];

/** Files that are not embedded: decisions, pictures, samples, the API's document, which is made anew, and what only developers read. */
const LEFT_OUT = /^docs\/(?:decisions\/|images\/|samples\/|generated\/openapi\.json$|(?:dev|releasing)\.md$)/;

/** Nobody reads these files in the program. Their layout and comments are a quarter of the JSON and a third of the SQL. */
const SHORTENED: Readonly<Record<string, (text: string) => string>> = {
  ".json": (text) => JSON.stringify(JSON.parse(text)),
  // Only lines between statements, since SQLite stores the text of a statement with the comments in it.
  ".sql": (text) => text.replaceAll(/^--.*\n/gm, ""),
};

/** Licence texts of what the program is made of; `reckon notices` prints it. */
const NOTICES = "THIRD-PARTY-NOTICES.txt";

/** The module that threads start from. It imports no other, since threads cannot read the files within an executable. */
const THREAD = "worker.mjs";

/** Modules of Node.js that take a while to load and that most commands do without. */
const SLOW_TO_LOAD = ["http", "https", "tls"];

/**
 * Loads modules of Node.js when the first of their members is used, not when the program starts: node:https and node:tls take nearly as
 * long as all of Node.js.
 */
const whenUsed: Plugin = {
  name: "when-used",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: RegExp(`^(?:node:)?(?:${SLOW_TO_LOAD.join("|")})$`) }, ({ path }) => ({
      path: path.replace(/^node:/, ""),
      namespace: "builtin",
    }));
    onLoad({ filter: /^/, namespace: "builtin" }, ({ path }) => ({
      contents: `for (const name of ${JSON.stringify(Object.keys(process.getBuiltinModule(path) ?? {}))})
  Object.defineProperty(exports, name, { get: () => process.getBuiltinModule("node:${path}")[name], enumerable: true });`,
      loader: "js",
    }));
  },
};

/** Leaves out nodemailer's 85 KB of file name endings and media types: nothing that is mailed has an attachment. */
const noMimeTypes: Plugin = {
  name: "no-mime-types",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]nodemailer[\\/].*[\\/]mime-types\.js$/ }, () => ({
      contents:
        'export const detectMimeType = () => "application/octet-stream"; export const detectExtension = () => "bin";',
    }));
  },
};

/** Leaves out ajv, 270 KB by which the library of MCP judges what people enter where a server asks for it: this one asks nobody. */
const noAjv: Plugin = {
  name: "no-ajv",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({ path: "shims", namespace: "no-ajv" }));
    onLoad({ filter: /^shims$/, namespace: "no-ajv" }, () => ({
      contents: 'export { default as process } from "node:process"; export class DefaultJsonSchemaValidator {}',
      loader: "js",
    }));
  },
};

/** A bundle on disk. Paths in `files` are relative to `folder` and have forward slashes. */
export interface Bundle {
  readonly folder: string;
  readonly main: string;
  /** Everything but `main`: chunks, the SQLite addon, embedded files under their path in the repository. */
  readonly files: readonly string[];
  readonly metafile: Metafile;
}

/** @throws BuildError when the name is not one of TARGETS. */
export function readTarget(name: string): Target {
  const target = TARGETS.find((known) => known === name);
  if (!target) throw new BuildError(`cannot build for ${name}: choose one of ${TARGETS.join(", ")}`);
  return target;
}

/** The target that runs on this machine. */
export const hostTarget = () => readTarget(`${process.platform}-${process.arch}`);

/**
 * Bundles the program into `folder`, which is emptied first: `main.mjs`, its lazily loaded chunks, the SQLite addon, and
 * the embedded files in the repository's layout, so that code finds them below `import.meta.dirname`.
 */
export async function bundle(folder: string, target: Target = hostTarget()): Promise<Bundle> {
  await rm(folder, { recursive: true, force: true });
  const metafile = await compile(target, folder);
  for (const file of await embeddedFiles()) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    const shorten = SHORTENED[extname(file)];
    if (file.startsWith("docs/") || !shorten) await cp(join(ROOT, file), join(folder, file));
    else await writeFile(join(folder, file), shorten(await readFile(join(ROOT, file), "utf8")));
  }
  await writeFile(join(folder, NOTICES), await notices(ROOT, metafile));
  const main = "main.mjs";
  const files = (await filesBelow(folder)).filter((file) => file !== main);
  return { folder, main, files, metafile };
}

/** What the bundle is made of and who imports whom, as esbuild reports it; writes nothing. */
export const metafile = () => compile(hostTarget());

/** @param folder where to write; nothing is written without one. */
async function compile(target: Target, folder?: string): Promise<Metafile> {
  const { version } = await readPackageJSON(ROOT);
  if (!version) throw new BuildError("package.json has no version");
  const common = {
    absWorkingDir: ROOT,
    write: folder !== undefined,
    metafile: true,
    bundle: true,
    platform: "node",
    target: `node${process.versions.node}`,
    format: "esm",
    // Names and lines stay, for stack traces; squeezing them out measurably bought neither size nor start-up time.
    minifySyntax: true,
    legalComments: "none",
    plugins: [whenUsed, noMimeTypes, noAjv],
    define: { RECKON_VERSION: JSON.stringify(version), RECKON_ASSETS: JSON.stringify(".") },
    logLevel: "warning",
  } as const satisfies BuildOptions;
  const outdir = folder ?? join(ROOT, "dist", "bundle");
  const main = await build({
    ...common,
    entryPoints: { main: "src/main.ts" },
    outdir,
    // A chunk for each lazily imported module: a short command does not load what only the server needs.
    splitting: true,
    // Assets and chunks lie beside main, so that `import.meta.dirname` is the same folder in all of them.
    outExtension: { ".js": ".mjs" },
    chunkNames: "[name]-[hash]",
    assetNames: "[name]",
    loader: { ".node": "copy" },
    alias: { "better-sqlite3": `better-sqlite3/${target}` },
    banner: {
      js: 'import { createRequire as bundleRequire } from "node:module"; const require = bundleRequire(import.meta.url);',
    },
  });
  const thread = await build({ ...common, entryPoints: ["src/worker.ts"], outfile: join(outdir, THREAD) });
  return {
    inputs: { ...main.metafile.inputs, ...thread.metafile.inputs },
    outputs: { ...main.metafile.outputs, ...thread.metafile.outputs },
  };
}

async function embeddedFiles(): Promise<string[]> {
  const found = await Promise.all(
    EMBEDDED.map(async (path) => {
      const below = await filesBelow(join(ROOT, path)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOTDIR") return undefined;
        throw error;
      });
      return below?.map((file) => `${path}/${file}`) ?? [path];
    }),
  );
  return found
    .flat()
    .filter((file) => !file.endsWith(".ts") && !file.split("/").some((part) => part.startsWith(".")))
    .filter((file) => !LEFT_OUT.test(file));
}

/** Sorted, because the order in which a disk lists files must not show in what is built from them. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/"))
    .sort();
}

if (import.meta.main) {
  const made = await bundle(join(ROOT, "dist", "bundle"));
  process.stdout.write(`dist/bundle: ${[made.main, ...made.files].join(", ")}\n`);
}
