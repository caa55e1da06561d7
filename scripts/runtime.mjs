import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const MAJOR = 24;

/** The path of a Node that runs this code base: this very one, or one that npm brings. */
export async function findNode(root) {
  if (Number(process.versions.node.split(".")[0]) >= MAJOR) return process.execPath;
  const memory = path.join(root, "node_modules", ".scrip", "node");
  const remembered = readIfThere(memory);
  if (remembered !== undefined && existsSync(remembered)) return remembered;
  console.error(`scrip: this is Node ${process.versions.node}; getting Node ${MAJOR} from npm …`);
  const found = await capture("npx", [
    "-y",
    "-p",
    `node@${MAJOR}`,
    "node",
    "-p",
    "process.execPath",
  ]);
  const node = found.trim().split("\n").at(-1) ?? "";
  if (!existsSync(node)) throw new Error(`npm brought no Node ${MAJOR}, but: ${found}`);
  mkdirSync(path.dirname(memory), { recursive: true });
  writeFileSync(memory, node);
  return node;
}

export function readIfThere(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** What npm says about its own settings would bury what a newcomer has to read. */
export const QUIET_NPM = { npm_config_loglevel: "error", npm_config_progress: "false" };

/** What a program writes; an error that tells what it complained about when it fails. */
function capture(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...QUIET_NPM },
      shell: process.platform === "win32",
    });
    let [output, complaints] = ["", ""];
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (complaints += chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${program} ${args.join(" ")} failed:\n${complaints || output}`));
    });
  });
}
