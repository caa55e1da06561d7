import { runCli } from "./program.ts";

process.exitCode = await runCli({
  args: process.argv.slice(2),
  env: process.env,
  write: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
  ...(process.stdout.isTTY && process.stderr.isTTY && { terminal: process.stderr }),
});
