import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { readPackageJSON } from "pkg-types";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { heaviest, judgeWeights, readBudget, weigh } from "../../../build/budget.ts";
import { type Bundle, bundle, hostTarget, ROOT, readTarget } from "../../../build/bundle.ts";
import { CONTRACT } from "../../../src/app.ts";
import { silentLog } from "../../../src/kit/log.ts";
import { Pool } from "../../../src/platform/workers/pool.ts";

describe("the bundle", () => {
  let scratch: string;
  let made: Bundle;

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), "reckon-bundle-"));
    made = await bundle(join(scratch, "here"));
  });
  afterAll(() => rm(scratch, { recursive: true, force: true }));

  test("runs where there is no package to import", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(made.folder, made.main), "--version"], {
      cwd: scratch,
    });
    expect(stdout.trim()).toBe((await readPackageJSON(ROOT)).version);
  });

  test("does not load what speaks HTTP and TLS for a command that asks no server", async () => {
    const tell =
      'process.on("exit", () => console.log(process.moduleLoadList.filter((name) => /undici|Module (?:https?|tls)$/.test(name))))';
    const main = join(made.folder, made.main);
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--import",
      `data:text/javascript,${tell}`,
      main,
      "--version",
    ]);
    expect(stdout.trim().split("\n").at(-1)).toBe("[]");
  });

  test("brings the schema under its path in the repository, and no source code", () => {
    expect(made.files).toContain("schema.sql");
    expect(made.files).toContain(`${hostTarget()}.node`);
    expect(made.files.filter((file) => file.endsWith(".ts"))).toEqual([]);
  });

  test("carries the licence of every package in it and of Node.js, and prints them", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(made.folder, made.main), "notices"], {
      maxBuffer: 4 * 1024 * 1024,
    });
    const named = Object.keys(made.metafile.inputs)
      .map((path) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1])
      .filter((name) => name !== undefined);
    expect(named.length).toBeGreaterThan(10);
    expect([...new Set(named), "node-"].filter((name) => !stdout.includes(`\n\n${name}`))).toEqual([]);
    expect(stdout).toContain("Permission is hereby granted, free of charge");
  });

  test("begins threads with a module of its own, which knows every preparation", async () => {
    const text = await readFile(join(made.folder, "worker.mjs"), "utf8");
    const imported = [...text.matchAll(/^import .* from "([^"]+)"/gm)].map(([, name]) => name);
    expect(imported.filter((name) => !name?.startsWith("node:"))).toEqual([]);
    const names = CONTRACT.flatMap(({ spec }) => spec.body?.prepare?.by.name ?? []);
    const start = () => new Worker(text, { eval: true });
    const pool = new Pool({ size: 1, start, jobMs: 60_000, log: silentLog });
    onTestFinished(() => pool.close());
    const payer = { team: "a", credential: "a" };
    const input = {
      bytes: Buffer.from("{"),
      isGzip: false,
      isBinary: false,
      maxBytes: 10,
      freeForm: true,
      given: undefined,
    };
    const outcomes = await Promise.allSettled(names.map((name) => pool.run({ name, payer, input })));
    const refused = { status: "rejected", reason: expect.objectContaining({ message: "The body is not valid JSON." }) };
    expect(names).toHaveLength(7);
    expect(outcomes).toEqual(names.map(() => refused));
  });

  test("stays under its ceilings", async () => {
    expect(judgeWeights(await weigh(made), await readBudget(), made.metafile)).toEqual([]);
  });

  test("for another machine brings the SQLite addon of that machine", async () => {
    const target = readTarget(hostTarget() === "linux-arm64" ? "linux-x64" : "linux-arm64");
    const other = await bundle(join(scratch, "other"), target);
    expect(other.files.filter((file) => file.endsWith(".node"))).toEqual([`${target}.node`]);
  });
});

describe("the ceilings", () => {
  const output = (inputs: Record<string, number>) => ({
    bytes: 0,
    imports: [],
    exports: [],
    inputs: Object.fromEntries(Object.entries(inputs).map(([path, bytesInOutput]) => [path, { bytesInOutput }])),
  });
  const metafile = {
    inputs: {},
    outputs: {
      "main.mjs": output({ "node_modules/a/node_modules/@x/big/i.js": 500, "src/kit/a.ts": 20 }),
      "chunk.mjs": output({
        "src/kit/b.ts": 30,
        "node_modules/small/index.js": 10,
        "node_modules/x/linux-x64.node": 9000,
      }),
    },
  };

  test("count what a package or a room brings over all chunks, without the addon", () => {
    expect(heaviest(metafile)).toEqual(["@x/big 500", "src/kit 50", "small 10"]);
  });

  test("when exceeded, are named with the excess and who brings most", () => {
    const ceilings = { codeBytes: 100, embeddedBytes: 100, executableBytes: 100 };
    const findings = judgeWeights({ codeBytes: 101, embeddedBytes: 100 }, ceilings, metafile);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatch(/codeBytes is 101.*100.*by 1;.*@x\/big 500/);
  });
});
