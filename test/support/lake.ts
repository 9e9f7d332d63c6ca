import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { parquetReadObjects } from "hyparquet";
import { onTestFinished } from "vitest";
import { catchUpSpend } from "../../src/insight/spend/spend.ts";
import { seal } from "../../src/record/telemetry/seal.ts";
import { flow } from "../../src/share/lake/flow.ts";
import { startInstance, type TestDevice, type TestInstance, type TestOptions } from "./instance.ts";

/** A row of a lake's table, with what the names of its folders say. */
// biome-ignore lint/suspicious/noExplicitAny: columns of any table
export type LakeRow = Record<string, any> & { readonly file: string };

const compressors = {
  ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)),
};

/** Paths of the objects of a lake in a directory, sorted. */
export const lakeFiles = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".parquet"))
    .sort();

/** Reads all rows of a table with an independent reader. */
export async function lakeRows(directory: string, table: string): Promise<LakeRow[]> {
  const found: LakeRow[] = [];
  for (const file of lakeFiles(directory).filter((name) => name.startsWith(`${table}/`))) {
    const { buffer } = Uint8Array.from(readFileSync(join(directory, file)));
    const folders = Object.fromEntries([...file.matchAll(/(\w+)=([^/]+)\//g)].map(([, name, value]) => [name, value]));
    for (const row of await parquetReadObjects({ file: buffer, compressors })) found.push({ ...row, ...folders, file });
  }
  return found;
}

/** All that stands in a lake, as text. */
export async function lakeText(directory: string): Promise<string> {
  const tables = ["entries", "spend", "sessions", "errors", "devices"];
  const rows = (await Promise.all(tables.map((table) => lakeRows(directory, table)))).flat();
  const asText = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
  const raw = lakeFiles(directory).map((file) => readFileSync(join(directory, file), "latin1"));
  return [JSON.stringify(rows, asText), ...raw].join("\n");
}

/** Seals what fills blocks, brings all that is derived up to date, and lets it flow. */
export async function flowAll(t: TestInstance): Promise<void> {
  await t.instance.settle();
  await catchUpSpend(t.instance.core);
  await seal(t.instance.core, 100);
  await flow(t.instance.core);
}

/** Sends entries that tell of usage, so many that blocks fill. @param from the first seq */
export async function sendEntries(
  t: TestInstance,
  { token }: Pick<TestDevice, "token">,
  { repoKey = "github.com/acme/shop", from = 1, count = 1_100, text = "work" } = {},
): Promise<void> {
  for (let at = from; at < from + count; at += 500) {
    const entries = Array.from({ length: Math.min(500, from + count - at) }, (_, i) => ({
      seq: at + i,
      clientTimestamp: new Date(
        Date.UTC(2026, 10, 19 + ((((at + i) / 400) % 3) | 0), 9, 0, (at + i) % 60),
      ).toISOString(),
      payload: {
        type: "reply",
        text: `${text} ${at + i}`,
        sessionId: `${text}-${(at + i) % 5}`,
        model: ["claude-opus-4-6", "gpt-5-mini", "acme-local-70b"][(at + i) % 3],
        message: {
          id: `msg_${repoKey}_${text}_${at + i}`,
          usage: { input_tokens: 7 + ((at + i) % 11), output_tokens: 3 },
        },
        ...((at + i) % 7 === 0 ? { costUsd: 0.001_234 } : {}),
      },
    }));
    const { status, text: answer } = await t.post("/api/telemetry/ingest", { token, json: { repoKey, entries } });
    if (status !== 200) throw new Error(`${status} ${answer}`);
  }
}

/** An instance whose lake is the bucket `company` of a service that answers as it likes. */
export async function startOnBucket(answer: RequestListener, options: TestOptions = {}): Promise<TestInstance> {
  const service = createServer(answer).listen(0, "127.0.0.1");
  onTestFinished(() => void service.close());
  await once(service, "listening");
  const host = `127.0.0.1:${(service.address() as AddressInfo).port}`;
  const keys = { lakeAccessKeyId: "key", lakeSecretAccessKey: "secret", outbound: `${host},+private` };
  return startInstance({ ...options, settings: { lake: "s3://company", lakeEndpoint: `http://${host}`, ...keys } });
}
