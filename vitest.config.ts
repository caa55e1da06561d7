import { defineConfig } from "vitest/config";

const globalSetup = "services/shared/testing/src/global-setup.ts";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["{services,gateway,cli}/**/src/**/*.test.ts"],
        },
      },
      {
        test: {
          name: "integration",
          include: [
            "{services/*,services/shared/*,gateway,cli,deploy/*}/test/**/*.test.ts",
            "test/contract/**/*.test.ts",
          ],
          globalSetup,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Each file starts processes of its own; two cores carry one set of them at a time.
          fileParallelism: false,
        },
      },
    ],
  },
});
