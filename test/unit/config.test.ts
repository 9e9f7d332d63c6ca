import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readConfig } from "../../src/config.ts";
import { newFolder } from "../support/folder.ts";

it("takes flags before the environment and the environment before defaults", () => {
  expect(readConfig({}, {}).port).toBe(4870);
  expect(readConfig({}, { RECKON_PORT: "1" }).port).toBe(1);
  expect(readConfig({ port: "2" }, { RECKON_PORT: "1" }).port).toBe(2);
  expect(readConfig({}, { RECKON_PORT: "" }).port).toBe(4870);
  // As where `--data $DIR` is written and DIR is not set: that must not mean the default folder.
  expect(() => readConfig({ data: "" }, { RECKON_DATA: "/there" })).toThrow("--data is empty");
});

it("reads quotas, base URLs with a sub-path, and proxy ranges", () => {
  const config = readConfig(
    {},
    {
      RECKON_LIMIT_BRAIN: "5/3600",
      RECKON_LIMIT_TRACES: "off",
      RECKON_BASE_URL: "https://x.example/sub/",
      RECKON_TRUSTED_PROXIES: "10.0.0.0/8, ::1",
    },
  );
  expect(config).toMatchObject({
    limitBrain: { count: 5, seconds: 3600 },
    limitTraces: null,
    baseUrl: "https://x.example/sub",
    trustedProxies: ["10.0.0.0/8", "::1"],
  });
});

it("takes an IPv6 address to listen on with the brackets that it has in URLs, or without", () => {
  const read = (host: string, metrics: string) => readConfig({}, { RECKON_HOST: host, RECKON_METRICS: metrics });
  expect(read("[::1]", "[::1]:9470")).toMatchObject({ host: "::1", metrics: "::1:9470" });
  expect(read("::", "::1:9470")).toMatchObject({ host: "::", metrics: "::1:9470" });
  expect(read("build-1.acme.example", "localhost:9470").host).toBe("build-1.acme.example");
});

it("reads a value from the file that NAME_FILE names", () => {
  const folder = newFolder();
  writeFileSync(join(folder, "port"), "1234\n");
  expect(readConfig({}, { RECKON_PORT_FILE: join(folder, "port") }).port).toBe(1234);
  expect(readConfig({}, { RECKON_PORT: "", RECKON_PORT_FILE: join(folder, "port") }).port).toBe(1234);
  expect(readConfig({}, { RECKON_PORT: "1", RECKON_PORT_FILE: join(folder, "port") }).port).toBe(1);
  expect(() => readConfig({}, { RECKON_PORT_FILE: join(folder, "none") })).toThrow(
    `RECKON_PORT_FILE: ${join(folder, "none")} cannot be read: there is no such file`,
  );
  writeFileSync(join(folder, "long"), "1".repeat(65_537));
  expect(() => readConfig({}, { RECKON_PORT_FILE: join(folder, "long") })).toThrow("is longer than 65536 bytes");
});

it.each([
  ["RECKON_PORT", "70000"],
  ["RECKON_PORT", "4870x"],
  ["RECKON_HOST", "http://127.0.0.1"],
  ["RECKON_HOST", "127.0.0.1:4870"],
  ["RECKON_HOST", "[127.0.0.1]"],
  ["RECKON_HOST", "fe80::1%eth0"],
  ["RECKON_HOST", "999.1.1.1"],
  ["RECKON_METRICS", "9470"],
  ["RECKON_METRICS", "http://127.0.0.1:9470"],
  ["RECKON_BASE_URL", "reckon.example"],
  ["RECKON_BASE_URL", "ftp://x"],
  ["RECKON_BASE_URL", "https://user@x"],
  ["RECKON_TRUSTED_PROXIES", "10.0.0.0/33"],
  ["RECKON_TRUSTED_PROXIES", "proxy.example"],
  ["RECKON_TRUSTED_PROXIES", "10.0.0.0/8/24"],
  ["RECKON_TRUSTED_PROXIES", "fe80::1%eth0"],
  ["RECKON_TRUSTED_PROXIES", "10.0.0.1,fe80::%eth0/64"],
  ["RECKON_LIMIT_BRAIN", "0/60"],
  ["RECKON_LIMIT_BRAIN", "many"],
  ["RECKON_SIGNING", "maybe"],
  ["RECKON_MAX_TELEMETRY_BYTES", "4MB"],
  ["RECKON_MAX_TELEMETRY_BYTES", "33554433"],
  ["RECKON_MAX_BRAIN_FILE_BYTES", "33554433"],
  ["RECKON_MAX_TRACE_BYTES", "33554433"],
])("refuses %s=%s naming the variable", (name, value) => {
  expect(() => readConfig({}, { [name]: value })).toThrow(name);
});

it("reads where a lake is, and demands the keys of a bucket", () => {
  const read = (env: Record<string, string>) => readConfig({}, env).lake;
  const keys = { RECKON_LAKE_ACCESS_KEY_ID: "a", RECKON_LAKE_SECRET_ACCESS_KEY: "b" };
  expect(read({ RECKON_LAKE: "/mnt/lake/" })).toEqual({ kind: "directory", path: "/mnt/lake" });
  expect(read({ ...keys, RECKON_LAKE: "s3://company" })).toEqual({ kind: "s3", bucket: "company", prefix: "" });
  expect(read({ ...keys, RECKON_LAKE: "s3://company/a/b/" })).toEqual({
    kind: "s3",
    bucket: "company",
    prefix: "a/b/",
  });
  expect(() => read({ RECKON_LAKE: "s3://company/a" })).toThrow("needs RECKON_LAKE_ACCESS_KEY_ID");
  for (const wrong of [
    "lake",
    "s3://",
    "s3://Company",
    "s3://company/a b",
    "s3://company/../x",
    "https://s3.example.com",
  ])
    expect(() => read({ ...keys, RECKON_LAKE: wrong })).toThrow("RECKON_LAKE must be an absolute path");
  expect(() => read({ RECKON_LAKE_ENDPOINT: "https://s3.example.com/path" })).toThrow("without a path");
  expect(() => read({ RECKON_LAKE_EVERY: "100ms" })).toThrow("RECKON_LAKE_EVERY must be a span");
});
