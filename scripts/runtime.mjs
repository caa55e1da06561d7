import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

const MAJOR = 24;

/** Path of a Node that runs this code base: the current one, or one that npm downloads. */
export async function findNode(root, env) {
  if (Number(process.versions.node.split(".")[0]) >= MAJOR) return process.execPath;
  const cache = path.join(root, "node_modules", ".scrip", "node");
  const cached = readIfExists(cache);
  if (cached !== undefined && existsSync(cached)) return cached;
  console.error(
    `scrip: this is Node ${process.versions.node}; downloading Node ${MAJOR} from npm …`,
  );
  const args = ["-y", "-p", `node@${MAJOR}`, "node", "-p", "process.execPath"];
  const output = await capture("npx", args, env).catch((error) => {
    throw new Error(downloadAdvice(`Node ${MAJOR} could not be downloaded`, error.message));
  });
  const node = output.trim().split("\n").at(-1) ?? "";
  if (!existsSync(node)) {
    throw new Error(`npm did not provide Node ${MAJOR}. Install Node ${MAJOR} and start again.`);
  }
  mkdirSync(path.dirname(cache), { recursive: true });
  writeFileSync(cache, node);
  return node;
}

/** One line that says why a download failed and what to do. */
export function downloadAdvice(problem, output) {
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network/i.test(output)) {
    return `${problem}: the npm registry cannot be reached. The first start needs a network connection (or a registry set by \`npm config set registry\`).`;
  }
  if (/ENOSPC|no space left/i.test(output)) {
    return `${problem}: the disk is full. Free about 2 GB and start again.`;
  }
  if (/EACCES|EPERM|EROFS/.test(output)) {
    return `${problem}: a folder cannot be written. Set npm_config_cache to a folder that this user can write, and check the owner of this checkout.`;
  }
  const lines = output.trim().split("\n").slice(-10).join("\n  ");
  return `${problem}:\n  ${lines}`;
}

/**
 * The environment for npm and pnpm. With a home that cannot be written, as in many containers, their
 * caches move into the checkout.
 */
export function packageEnv(root, env) {
  if (canWrite(env.HOME ?? homedir())) return env;
  const home = path.join(root, "node_modules", ".scrip", "home");
  mkdirSync(home, { recursive: true });
  // npm itself sets npm_config_cache for the scripts that it runs, to a folder in the home.
  const cache = env.npm_config_cache ?? "";
  return { ...env, HOME: home, npm_config_cache: canWrite(cache) ? cache : path.join(home, "npm") };
}

function canWrite(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

export function readIfExists(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** Hides npm's warnings about its own settings, which would bury Scrip's messages. */
export const QUIET_NPM = { npm_config_loglevel: "error", npm_config_progress: "false" };

/** The standard output of a program; if it fails, an error with its error output. */
function capture(program, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...env, ...QUIET_NPM },
      shell: process.platform === "win32",
    });
    let [output, errors] = ["", ""];
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (errors += chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(errors || output || `${program} ended with ${code}`));
    });
  });
}
