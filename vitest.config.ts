import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

import { leftOutReporter } from "./services/shared/testing/src/left-out-reporter.ts";
import { missingServers } from "./services/shared/testing/src/optional-servers.ts";

const globalSetup = "services/shared/testing/src/global-setup.ts";

// Tests set what they need: the terminal may have the keys of an installation (`.scrip/keys.env`).
for (const name of Object.keys(process.env)) {
  if (name.startsWith("SCRIP_")) delete process.env[name];
}

const missing = missingServers();
const exclude = [...configDefaults.exclude, ...missing.map(({ name }) => `**/*.${name}.test.ts`)];

/** Polls succeed within this time on any machine, or never. */
const expect = { poll: { timeout: 60_000 } };

/** No test changes modules that others import, so files share them and start faster. */
const isolate = false;

/** Files that wait for processes and timers leave the processors of a small machine to two others. */
const maxWorkers = 3;

/** The services of the stacks need the rest of a small machine. */
const maxE2eWorkers = 2;

/** They start processes and wait for them, or send many requests. */
const SLOW_FILES =
  /\/(deploy\/standalone|services\/shared\/embedded-postgres)\/test\/|\/e2e\/(model|stress-.*|idempotency|key-rotation)\.test\./;

const rankOf = ({ moduleId }: TestSpecification): number => (SLOW_FILES.test(moduleId) ? 0 : 1);

/** They fill the machine, or hold locks that delay other requests of a shared stack. */
const FILES_ALONE = [
  "concurrent-redemptions",
  "contested",
  "keyed-writes",
  "locked-rows",
  "model",
  "overload",
  "stress-*",
].map((name) => `test/e2e/${name}.test.ts`);

/** Vitest starts large files first; small files that take long would keep one worker busy at the end. */
class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- this one sorts files
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

/** With TEST_CLUSTER, tests start clusters of twelve processes and a broker. */
const e2eTimeout = process.env["TEST_CLUSTER"] ? 600_000 : 120_000;

const e2e = {
  globalSetup: "test/stack/global-setup.ts",
  setupFiles: "test/stack/logged-errors.ts",
  expect,
  isolate,
  testTimeout: e2eTimeout,
  hookTimeout: e2eTimeout,
};

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
            "{scripts,test/contract,test/deploy,test/load}/**/*.test.ts",
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
          ...e2e,
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          exclude: [...exclude, ...FILES_ALONE],
          maxWorkers: maxE2eWorkers,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...e2e,
          name: "e2e-alone",
          include: FILES_ALONE,
          exclude,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
