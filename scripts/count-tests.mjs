// Prints how many tests passed and failed in a run: node scripts/count-tests.mjs <report> <exit code>
import { existsSync, readFileSync } from "node:fs";

const [report = "", exitCode] = process.argv.slice(2);
const { numPassedTests: passed = 0, numTotalTests: total = 0 } = existsSync(report)
  ? JSON.parse(readFileSync(report, "utf8"))
  : {};

// A test that was skipped proved nothing. A run can also fail around its tests: a file that does not
// load, an error that nobody caught.
const failed = total - passed;
console.log(passed, exitCode === "0" ? failed : Math.max(1, failed));
