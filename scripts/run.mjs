// Runs a command of this workspace with Node 24, the packages of the lock file, and their programs in
// PATH. Plain JavaScript without packages, because it runs on older Node versions and before anything
// is installed.
//
//   node scripts/run.mjs <command> [arguments…]
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { installWorkspace } from "./install.mjs";
import { findNode, packageEnv } from "./runtime.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** npm and the terminal may both pass on one Ctrl-C; repeats within this time are ignored. */
const SAME_SIGNAL_MS = 500;
const ORPHAN_POLL_MS = 500;

async function main([command, ...args]) {
  if (command === undefined) throw new Error("usage: node scripts/run.mjs <command> [arguments…]");
  const node = await findNode(root, packageEnv(root, process.env));
  const env = {
    ...withPath(process.env, [path.dirname(node), path.join(root, "node_modules", ".bin")]),
    // Compiled code that outlives a process, so that the next one starts sooner.
    NODE_COMPILE_CACHE:
      process.env.NODE_COMPILE_CACHE || path.join(root, "node_modules", ".cache", "scrip-compiled"),
  };
  await installWorkspace(root, env);
  return run(command === "node" ? node : command, args, env);
}

/**
 * Runs the command and returns its exit code. The command gets its own process group: a Ctrl-C in the
 * terminal then reaches it once, through this process, however many parents also pass it on.
 */
function run(program, args, env) {
  const isWindows = process.platform === "win32";
  const child = spawn(program, args, {
    env,
    stdio: "inherit",
    detached: !isWindows,
    shell: isWindows && !existsSync(program),
  });
  const pass = signalPasser(child, isWindows);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => pass(signal));
  if (process.env["npm_lifecycle_event"] !== undefined) whenOrphaned(() => pass("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.on("error", (cause) => {
      reject(new Error(`${program} cannot be started: ${cause.message}`, { cause }));
    });
    child.on("exit", (code, signal) => resolve(code ?? exitCodeOf(signal)));
  });
}

/** Passes Ctrl-C to the whole process group, as a terminal does, and SIGTERM to the command only. */
function signalPasser(child, isWindows) {
  const passedAt = new Map();
  return (signal) => {
    const isRepeat = Date.now() - (passedAt.get(signal) ?? 0) < SAME_SIGNAL_MS;
    passedAt.set(signal, Date.now());
    if (isRepeat) return;
    try {
      process.kill(signal === "SIGINT" && !isWindows ? -child.pid : child.pid, signal);
    } catch {
      // The command has ended.
    }
  };
}

/**
 * npm passes SIGTERM to the shell between itself and this process; both end without a signal here.
 * Only the changed parent process shows it.
 */
function whenOrphaned(then) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    then();
  }, ORPHAN_POLL_MS);
  timer.unref();
}

const exitCodeOf = (signal) =>
  ({ SIGHUP: 129, SIGINT: 130, SIGKILL: 137, SIGTERM: 143 })[signal] ?? 1;

function withPath(env, folders) {
  // Windows spells it Path; an environment must not contain both spellings.
  const name = Object.keys(env).find((key) => key.toUpperCase() === "PATH") ?? "PATH";
  return { ...env, [name]: [...folders, env[name]].join(path.delimiter) };
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(`scrip: ${error.message}`);
  process.exitCode = 1;
}
