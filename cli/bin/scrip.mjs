#!/usr/bin/env node
// TypeScript runs unbuilt from Node 24 on. An older Node goes through the workspace's runner, which
// brings a newer one; so this file is plain JavaScript.
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
