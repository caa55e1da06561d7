import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { QUIET_NPM, readIfThere } from "./runtime.mjs";

const PNPM = "pnpm@12.21.0";
const LOCK_POLL_MS = 250;

/** Installs what the lock file names, unless the last install did and nothing has changed since. */
export async function installWorkspace(root, env) {
  const stamp = path.join(root, "node_modules", ".scrip", "installed");
  if (readIfThere(stamp) === fingerprint(root)) return;
  const unlock = await lockInstall(root);
  const stop = () => {
    unlock();
    process.exit(130);
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    const wanted = fingerprint(root);
    // Another start may have installed it while this one waited.
    if (readIfThere(stamp) === wanted) return;
    console.error("scrip: installing packages (about a minute the first time) …");
    await pnpmInstall(root, env);
    mkdirSync(path.dirname(stamp), { recursive: true });
    writeFileSync(stamp, wanted);
  } finally {
    unlock();
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

function pnpmInstall(root, env) {
  const isWindows = process.platform === "win32";
  const args = ["-y", PNPM, "install", "--frozen-lockfile"];
  const child = spawn("npx", args, {
    cwd: root,
    // Silences npm about settings of its own; pnpm has other variables and still shows progress.
    env: { ...env, ...QUIET_NPM },
    // The output of the command may be data; progress belongs to the other stream.
    stdio: ["ignore", process.stderr, process.stderr],
    shell: isWindows,
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => {
      if (code === 0) resolve();
      else reject(new Error(installAdvice(code)));
    });
  });
}

const installAdvice = (code) =>
  [
    `the packages could not be installed (pnpm ended with ${code}; its words are above).`,
    "If a package.json was changed, update the lock file: npx -y pnpm install",
    "Otherwise check that the npm registry can be reached, and start again.",
  ]
    .join("\n       ")
    .replace("pnpm install", `${PNPM} install`);

/** Everything that an install depends on. */
function fingerprint(root) {
  const hash = createHash("sha256");
  const files = ["pnpm-lock.yaml", "pnpm-workspace.yaml", ...manifests(root)];
  for (const file of files)
    hash.update(`\0${file}\0`).update(readIfThere(path.join(root, file)) ?? "");
  return hash.digest("hex");
}

/** The package.json of every package that pnpm-workspace.yaml lists, as `folder` or `folder/*`. */
function manifests(root) {
  const workspace = readFileSync(path.join(root, "pnpm-workspace.yaml"), "utf8");
  const [, list = ""] = /^packages:\n((?: +- .*\n)+)/m.exec(workspace) ?? [];
  const patterns = [...list.matchAll(/- (\S+)/g)].map(([, pattern]) => pattern);
  const folders = patterns.flatMap((pattern) => {
    if (!pattern.endsWith("/*")) return [pattern];
    const parent = pattern.slice(0, -"/*".length);
    const names = readdirSync(path.join(root, parent)).toSorted();
    return names.map((name) => `${parent}/${name}`);
  });
  return ["package.json", ...folders.map((folder) => `${folder}/package.json`)];
}

/** Two installs into one folder at once break it. The folder's name is git-ignored. */
async function lockInstall(root) {
  const lock = path.join(root, ".scrip-install");
  const owner = path.join(lock, "pid");
  for (let waits = 0; !tryMakeFolder(lock); waits += 1) {
    if (waits > 0 && !isRunning(Number(readIfThere(owner)))) {
      rmSync(lock, { recursive: true, force: true });
      continue;
    }
    if (waits === 1) console.error("scrip: another start is installing; waiting for it …");
    await sleep(LOCK_POLL_MS);
  }
  writeFileSync(owner, String(process.pid));
  return () => rmSync(lock, { recursive: true, force: true });
}

function tryMakeFolder(folder) {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

function isRunning(pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}
