import { defineConfig } from "vitest/config";

const globalSetup = "services/shared/testing/src/global-setup.ts";

/** What is waited for comes within this time on any machine, or never. */
const expect = { poll: { timeout: 60_000 } };

/** No test changes what others import; each file would import all of it anew. */
const isolate = false;

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
          isolate,
          testTimeout: 120_000,
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
          isolate,
          testTimeout: 120_000,
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
          setupFiles: "test/stack/logged-errors.ts",
          expect,
          isolate,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // Their stacks are processes that want two cores for themselves.
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
