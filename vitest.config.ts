import { defineConfig } from "vitest/config";

const globalSetup = "services/shared/testing/src/global-setup.ts";

/** What is waited for comes within this time on any machine, or never. */
const expect = { poll: { timeout: 20_000 } };

/** Postgres and the processes that tests start need their share of a small machine. */
const maxWorkers = 2;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["{services,gateway,cli,deploy}/**/src/**/*.test.ts"],
          expect,
          testTimeout: 60_000,
          maxWorkers,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: "integration",
          include: [
            "{services/*,services/shared/*,gateway,cli,deploy/*}/test/**/*.test.ts",
            "{scripts,test/contract,test/load}/**/*.test.ts",
          ],
          globalSetup,
          expect,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: "test/stack/global-setup.ts",
          expect,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // Each file starts processes of its own; two cores carry one set of them at a time.
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
