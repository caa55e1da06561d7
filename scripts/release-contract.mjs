// Stores the contract as released: `npm run check` compares later changes of proto/ with it. Run it for each release.
// What was never released may change in incompatible ways, so this does not compare.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const RELEASED = "proto/released.binpb.gz";

const { status, stdout, error } = spawnSync(
  "buf",
  ["build", "proto", "--exclude-source-info", "-o", "-#format=binpb"],
  { stdio: ["ignore", "pipe", "inherit"], maxBuffer: 64 * 1024 * 1024 },
);
if (status === 0) writeFileSync(RELEASED, gzipSync(stdout, { level: 9 }));
else console.error(`the contract cannot be built: ${error?.message ?? `status ${status}`}`);
process.exitCode = status ?? 1;
