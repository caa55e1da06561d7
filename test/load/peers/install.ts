import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

const LOCK_FILE = path.join(import.meta.dirname, "package-lock.json");
/** A copy of the lock file that was installed last. */
const INSTALLED = path.join(import.meta.dirname, "node_modules", ".installed-lock.json");

/** Installs the packages of this folder's lock file, unless they are installed. */
export async function installPeers(log: (line: string) => void): Promise<void> {
  const lock = await readFile(LOCK_FILE, "utf8");
  if (existsSync(INSTALLED) && (await readFile(INSTALLED, "utf8")) === lock) return;
  log("installing the peers (some minutes the first time)");
  // Without install scripts: those of these packages only report usage or build what npm delivers prebuilt.
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const child = spawn("npm", args, {
    cwd: import.meta.dirname,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  if (code !== 0) throw new Error(`npm ci ended with ${code} in ${import.meta.dirname}`);
  await writeFile(INSTALLED, lock);
}

export async function versionOf(name: string): Promise<string> {
  const lock = JSON.parse(await readFile(LOCK_FILE, "utf8")) as {
    packages: Record<string, { version: string } | undefined>;
  };
  return lock.packages[`node_modules/${name}`]?.version ?? "unknown";
}
