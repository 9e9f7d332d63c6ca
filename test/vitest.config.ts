import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes long comes first, so that no worker is left alone with it at the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const folders = ["/test/faults/", "/test/pages/", "/test/real/", "/test/cli/", "/test/dev/", "/test/site/"];
    const place = ({ moduleId }: TestSpecification) => {
      const found = folders.findIndex((folder) => moduleId.includes(folder));
      return found < 0 ? folders.length : found;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
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
    maxWorkers: 2,
    // A worker loads each module once for all its files, and Node reads TypeScript itself, as when the program runs from source.
    isolate: false,
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
});
