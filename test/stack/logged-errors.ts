import { beforeEach } from "vitest";

import { problemsIn } from "./logged-problems.ts";
import { usedLogs } from "./stack.ts";

/** Prints the first warnings and errors that the stacks logged during a failed test. */
beforeEach(({ onTestFailed }) => {
  const startTime = new Date().toISOString();
  onTestFailed(() => {
    for (const line of problemsIn(usedLogs(), startTime)) console.log(line);
  });
});
