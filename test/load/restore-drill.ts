import { parseArgs } from "node:util";

import { drillRestore } from "./point-in-time-restore.ts";

// README.md#restore-drill
const { values: options } = parseArgs({
  options: {
    /** Redemptions per second. */
    rate: { type: "string", default: "50" },
    /** Redemptions before the backup, between it and the restored moment, and after that. */
    count: { type: "string", default: "300" },
  },
});
const faults = await drillRestore({
  rate: Number(options.rate),
  count: Number(options.count),
  report: console.log,
});
console.log(
  faults.length === 0 ? "nothing lost, nothing too much, all invariants hold" : faults.join("\n"),
);
if (faults.length > 0) process.exitCode = 1;
