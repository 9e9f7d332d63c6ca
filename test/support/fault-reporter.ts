import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { CONTRACT } from "../../src/app.ts";
import { faultsOf } from "../../src/platform/http/endpoint.ts";

/** Fails a whole run in which no test reached a fault that the contract declares. */
export default class FaultReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const folder = join(process.env.RECKON_TEST_RUN as string, "faults");
    const files = globSync("test/**/*.test.ts");
    // A run of a few files proves nothing about the others.
    if (modules.length < files.length || modules.some((module) => module.state() === "failed")) return;
    const reached = new Set(
      readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n")),
    );
    const missed = CONTRACT.flatMap((one) => faultsOf(one).map((fault) => `${one.spec.id} ${fault.name}`)).filter(
      (pair) => !reached.has(pair),
    );
    if (missed.length === 0) return;
    console.error(`\nDeclared faults that no test reached:\n${missed.map((pair) => `  ${pair}`).join("\n")}\n`);
    process.exitCode = 1;
  }
}
