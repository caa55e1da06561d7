// Generates proto/gen from proto/**/*.proto and deletes generated files without a .proto; see buf.gen.yaml.
import { spawnSync } from "node:child_process";

const { status } = spawnSync("buf", ["generate", "--clean"], {
  stdio: "inherit",
  shell: process.platform === "win32",
});
process.exitCode = status ?? 1;
