// Prints how many tests passed and failed in a run: node scripts/count-tests.mjs <report> <exit code>
import { existsSync, readFileSync } from "node:fs";

const [report = "", exitCode] = process.argv.slice(2);
const { numPassedTests: passed = 0, numTotalTests: total = 0 } = existsSync(report)
  ? JSON.parse(readFileSync(report, "utf8"))
  : {};

// A skipped test counts as failed. A run can also fail outside of its tests: a file that does not load,
// an unhandled error.
const failed = total - passed;
console.log(passed, exitCode === "0" ? failed : Math.max(1, failed));
