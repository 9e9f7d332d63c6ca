import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Makes a temporary folder, which goes with the test. */
export function newFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "reckon-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
