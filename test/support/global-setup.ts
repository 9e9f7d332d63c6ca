import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { generateSigningPem } from "../../src/kit/jwt.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Folder of this run: holds a signing key that instances adopt, and what faults were reached. */
    runFolder: string;
  }
}

/** Prepares what all test files share. Making an RSA key costs half a second; instances adopt this one. */
export default async function setup(project: TestProject): Promise<() => void> {
  const runFolder = mkdtempSync(join(tmpdir(), "reckon-test-"));
  // Some tests run the program as another user.
  chmodSync(runFolder, 0o755);
  mkdirSync(join(runFolder, "faults"));
  writeFileSync(join(runFolder, "signing-key.pem"), await generateSigningPem(), { mode: 0o600 });
  process.env.RECKON_TEST_RUN = runFolder;
  // Workers and the processes they start compile each file once between them.
  process.env.NODE_COMPILE_CACHE = join(runFolder, "compiled");
  project.provide("runFolder", runFolder);
  return () => rmSync(runFolder, { recursive: true, force: true });
}
