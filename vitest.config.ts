import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

import { leftOutReporter } from "./services/shared/testing/src/left-out-reporter.ts";
import { missingServers } from "./services/shared/testing/src/optional-servers.ts";

const globalSetup = "services/shared/testing/src/global-setup.ts";

const missing = missingServers();
const exclude = [...configDefaults.exclude, ...missing.map(({ name }) => `**/*.${name}.test.ts`)];

/** Polls succeed within this time on any machine, or never. */
const expect = { poll: { timeout: 60_000 } };

/** No test changes modules that others import, so files share them and start faster. */
const isolate = false;

/** PostgreSQL and the processes that tests start need the rest of a small machine. */
const maxWorkers = 2;

/** They start processes and wait for them. */
const SLOW_FILES = /\/(deploy\/standalone|services\/shared\/embedded-postgres)\/test\//;

const rankOf = ({ moduleId }: TestSpecification): number => (SLOW_FILES.test(moduleId) ? 0 : 1);

/** Vitest starts large files first; small files that take long would keep one worker busy at the end. */
class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- this one sorts files
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: SlowFilesFirst },
    reporters: ["default", leftOutReporter(missing)],
    projects: [
      {
        test: {
          name: "unit",
          include: ["{services,gateway,cli,deploy}/**/src/**/*.test.ts"],
          exclude,
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
          exclude,
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
          exclude,
          expect,
          isolate,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // Each stack consists of processes that need two cores.
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
