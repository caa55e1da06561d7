import { runCli } from "./program.ts";

// The reader of a pipe may leave early, as `head` does. What it does not read is lost; the command ends its work.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

process.exitCode = await runCli({
  args: process.argv.slice(2),
  env: process.env,
  write: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
  ...(process.stdout.isTTY && process.stderr.isTTY && { terminal: process.stderr }),
});
