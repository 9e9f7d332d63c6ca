import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    root: fileURLToPath(new URL("..", import.meta.url)),
    globalSetup: ["test/support/global-setup.ts"],
    reporters: ["default", "./test/support/fault-reporter.ts"],
    // Real servers, real keys and real fsyncs on small machines: slow is not wrong.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
