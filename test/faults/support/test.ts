import { cpSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished } from "vitest";
import { type Data, type DataOptions, makeData, removeData } from "./data.ts";
import type { RawReply } from "./http.ts";
import { type Running, type StartOptions, serve } from "./process.ts";

/** What only tests need: directories and processes that end with the test, and judgements on replies. */

/** The signing key of this test run, for directories to adopt. */
export const runKeyPem = () => readFileSync(join(inject("runFolder"), "signing-key.pem"), "utf8");

/** A data directory that is removed with the test. */
export async function testData(options: DataOptions = {}): Promise<Data> {
  const data = await makeData({ keyPem: runKeyPem(), ...options });
  onTestFinished(() => removeData(data.directory));
  return data;
}

/** A copy of a directory that no process has open; removed with the test. Cheaper than making its like once more. */
export function copyOf(data: Data): Data {
  const directory = mkdtempSync(join(tmpdir(), "reckon-fault-"));
  onTestFinished(() => removeData(directory));
  cpSync(data.directory, directory, { recursive: true });
  return { ...data, directory };
}

/** A server process that is killed with the test. */
export async function testServer(directory: string, options: StartOptions = {}): Promise<Running> {
  const running = await serve(directory, options);
  onTestFinished(async () => {
    running.child.kill("SIGKILL");
    await running.exited;
  });
  return running;
}

/** A data directory with one device, a server process on it, and the device's token. */
export async function servedData(options?: StartOptions) {
  const data = await testData();
  return { data, server: await testServer(data.directory, options), token: data.devices[0]?.token as string };
}

/** Checks what every reply owes its client, whatever was sent: JSON, the version header, no markup, no internals. */
export function expectJsonRefusal(reply: RawReply, statuses: number | readonly number[]): void {
  expect(typeof statuses === "number" ? [statuses] : statuses, `${reply.head}\n\n${reply.body}`).toContain(
    reply.status,
  );
  expect(reply.headers.get("service-api-version"), `${reply.head}\n\n${reply.body}`).toBe("1");
  expect(reply.headers.get("content-type")).toBe("application/json; charset=utf-8");
  const body = JSON.parse(reply.body) as Record<string, unknown>;
  expect(typeof body.error).toBe("string");
  expect(reply.body).not.toMatch(/<html|<!doctype/i);
  expectNoInternals(reply.body);
}

/** Names of our tools, SQL, stack frames and paths have no place in a reply. */
export function expectNoInternals(body: string): void {
  expect(body).not.toMatch(/\bat \S+ \(|node:|node_modules|\.ts\b|\/work\/|\/tmp\/|\/src\//);
  expect(body).not.toMatch(/sqlite|SQLITE|better-sqlite3|valibot|\bh3\b|srvx|minisearch|markdown-it|\bjose\b/i);
  expect(body).not.toMatch(/\b(?:SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b|UNIQUE constraint|FOREIGN KEY/);
  expect(body).not.toMatch(/\b(?:TypeError|SyntaxError|RangeError|ERR_[A-Z_]+|HPE_[A-Z_]+|E[A-Z]{4,10}:)/);
}
