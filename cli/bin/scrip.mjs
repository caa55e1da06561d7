#!/usr/bin/env node
// Node 24 runs TypeScript directly. An older Node goes through the runner of the workspace, which
// installs a newer one, so this file is plain JavaScript.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const main = new URL("../src/main.ts", import.meta.url);
const major = Number(process.versions.node.split(".")[0]);

if (major >= 24) {
  await import(main.href);
} else {
  const runner = fileURLToPath(new URL("../../scripts/run.mjs", import.meta.url));
  const { status } = spawnSync(
    process.execPath,
    [runner, "node", fileURLToPath(main), ...process.argv.slice(2)],
    { stdio: "inherit" },
  );
  process.exitCode = status ?? 1;
}
