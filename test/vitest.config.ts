import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * What takes long comes first, so that no worker is left alone with it at the end; and what mostly waits comes between what computes, so
 * that no core is left without work.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const folders = ["/test/pages/", "/test/real/", "/test/cli/", "/test/dev/", "/test/site/"];
    const place = ({ moduleId }: TestSpecification) => {
      const found = folders.findIndex((folder) => moduleId.includes(folder));
      return found < 0 ? folders.length : found;
    };
    const waits = ({ moduleId }: TestSpecification) => moduleId.includes("/test/faults/");
    const sorted = await super.sort(files);
    const computing = sorted.filter((file) => !waits(file)).sort((a, b) => place(a) - place(b));
    return [...sorted.filter(waits).flatMap((file) => [file, ...computing.splice(0, 2)]), ...computing];
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    root: fileURLToPath(new URL("..", import.meta.url)),
    globalSetup: ["test/support/global-setup.ts"],
    reporters: ["default", "./test/support/fault-reporter.ts"],
    sequence: { sequencer: LongFirst },
    // Real servers, real keys and real fsyncs on small machines: slow is not wrong.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // More than there are cores, because a good part of test/faults waits; not without end, because each has a browser.
    maxWorkers: Math.min(availableParallelism() + 2, 8),
    // A worker loads each module once for all its files, and Node reads TypeScript itself, as when the program runs from source.
    isolate: false,
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
});
