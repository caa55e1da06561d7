import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { downloadAdvice, packageEnv, QUIET_NPM, readIfExists } from "./runtime.mjs";

const PNPM = "pnpm@12.21.0";
const LOCK_POLL_MS = 250;

/** Installs the packages of the lock file, unless nothing has changed since the last install. */
export async function installWorkspace(root, env) {
  const stamp = path.join(root, "node_modules", ".scrip", "installed");
  if (readIfExists(stamp) === fingerprint(root)) return;
  const unlock = await lockInstall(root).catch((error) => {
    throw new Error(downloadAdvice(`The packages cannot be installed in ${root}`, error.message));
  });
  const stop = () => {
    unlock();
    process.exit(130);
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    const current = fingerprint(root);
    // Another start may have installed it while this one waited.
    if (readIfExists(stamp) === current) return;
    console.error("scrip: installing packages (about a minute the first time) …");
    await pnpmInstall(root, packageEnv(root, env));
    mkdirSync(path.dirname(stamp), { recursive: true });
    writeFileSync(stamp, current);
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
    // Hides npm's warnings about its own settings; pnpm has other variables and still shows progress.
    env: { ...env, ...QUIET_NPM },
    // Standard output may carry the data of the command, so progress goes to standard error.
    stdio: ["ignore", "pipe", "pipe"],
    shell: isWindows,
  });
  let output = "";
  const show = (chunk) => {
    process.stderr.write(chunk);
    output = (output + chunk).slice(-MAX_OUTPUT);
  };
  child.stdout.on("data", show);
  child.stderr.on("data", show);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(installAdvice(code, output)));
    });
  });
}

/** Characters of pnpm's output that are searched for the reason of a failure. */
const MAX_OUTPUT = 20_000;

function installAdvice(code, output) {
  const problem = `the packages could not be installed (pnpm ended with ${code})`;
  if (/ERR_PNPM_OUTDATED_LOCKFILE|frozen-lockfile/.test(output)) {
    return `${problem}: a package.json changed. Update the lock file: npx -y ${PNPM} install`;
  }
  return downloadAdvice(problem, output);
}

/** Hash of everything that an install depends on. */
function fingerprint(root) {
  const hash = createHash("sha256");
  const files = ["pnpm-lock.yaml", "pnpm-workspace.yaml", ...manifests(root)];
  for (const file of files)
    hash.update(`\0${file}\0`).update(readIfExists(path.join(root, file)) ?? "");
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

/** Serialises installs: two concurrent ones break node_modules. The lock folder is git-ignored. */
async function lockInstall(root) {
  const lock = path.join(root, ".scrip-install");
  const owner = path.join(lock, "pid");
  for (let waits = 0; !tryMakeFolder(lock); waits += 1) {
    if (waits > 0 && !isRunning(Number(readIfExists(owner)))) {
      rmSync(lock, { recursive: true, force: true });
      continue;
    }
    if (waits === 1)
      console.error("scrip: another start is installing the packages; waiting for it …");
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
