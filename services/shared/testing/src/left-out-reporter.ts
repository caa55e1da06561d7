import type { Reporter } from "vitest/node";

import type { OptionalServer } from "./optional-servers.ts";

/** Prints one closing line that names the tests that were left out and how to include them. */
export const leftOutReporter = (missing: readonly OptionalServer[]): Reporter => ({
  onTestRunEnd() {
    for (const { name, remedy } of missing) {
      console.log(
        `Left out: the tests that need ${name} (*.${name}.test.ts). To run them, ${remedy}.`,
      );
    }
  },
});
