import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, onTestFinished, test } from "vitest";

type Workspace = {
  readonly root: string;
  readonly start: (args: readonly string[], env?: Readonly<Record<string, string>>) => Run;
  readonly write: (file: string, text: string) => Promise<void>;
  readonly installs: () => Promise<number>;
};

type Run = {
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly printed: (text: string) => Promise<void>;
  readonly exitCode: Promise<number>;
};

/** A workspace of one package whose `npx` logs each install and takes 0.3 s. */
async function givenWorkspace(installScript = "sleep 0.3"): Promise<Workspace> {
  const root = await mkdtemp(path.join(tmpdir(), "scrip-run-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text, { mode: 0o755 });
  };
  await cp(import.meta.dirname, path.join(root, "scripts"), { recursive: true });
  await write("pnpm-workspace.yaml", "packages:\n  - part\n  - parts/*\ncatalog:\n  a: 1.0.0\n");
  await write("part/package.json", "{}");
  await write("parts/one/package.json", "{}");
  await write("bin/npx", `#!/bin/sh\necho "$@" >> "${root}/installs"\n${installScript}\n`);
  return {
    root,
    write,
    start: (args, env = {}) => startRun(root, args, env),
    installs: async () => {
      const text = await readFile(path.join(root, "installs"), "utf8").catch(() => "");
      return text.split("\n").length - 1;
    },
  };
}

function startRun(
  root: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Run {
  const child = spawn(process.execPath, [path.join(root, "scripts/run.mjs"), ...args], {
    cwd: root,
    env: { ...process.env, ...env, PATH: `${root}/bin:${process.env["PATH"]}` },
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return {
    process: child,
    output: () => output,
    async printed(text) {
      while (!output.includes(text)) await sleep(10);
    },
    exitCode: once(child, "exit").then(([code]) => Number(code)),
  };
}

test("runs the command with Node 24 or later, also in PATH, and returns its exit code", async () => {
  const { start } = await givenWorkspace();
  const script = `echo "node $(node -p 'process.versions.node')"; exit 3`;
  const run = start(["sh", "-c", script]);
  expect(await run.exitCode).toBe(3);
  expect(Number(/node (\d+)/.exec(run.output())?.[1])).toBeGreaterThanOrEqual(24);
});

test("keeps compiled code in the workspace, or in the folder that the caller names", async () => {
  const { root, start } = await givenWorkspace();
  const folder = async (env: Readonly<Record<string, string>>): Promise<string> => {
    const run = start(["node", "-p", "process.env.NODE_COMPILE_CACHE"], env);
    await run.exitCode;
    return run.output().trim().split("\n").at(-1) ?? "";
  };
  expect(await folder({ NODE_COMPILE_CACHE: "" })).toBe(
    path.join(root, "node_modules/.cache/scrip-compiled"),
  );
  expect(await folder({ NODE_COMPILE_CACHE: "/elsewhere" })).toBe("/elsewhere");
});

test("installs packages once, and again after a package.json changed", async () => {
  const { start, write, installs } = await givenWorkspace();
  for (let times = 0; times < 2; times += 1) await start(["node", "-e", "0"]).exitCode;
  expect(await installs()).toBe(1);
  await write("parts/one/package.json", `{ "name": "one" }`);
  for (let times = 0; times < 2; times += 1) await start(["node", "-e", "0"]).exitCode;
  expect(await installs()).toBe(2);
});

test("two concurrent starts install once, and both run", async () => {
  const { start, installs } = await givenWorkspace();
  const runs = [start(["node", "-p", "'went'"]), start(["node", "-p", "'went'"])];
  expect(await Promise.all(runs.map((run) => run.exitCode))).toEqual([0, 0]);
  expect(runs.map((run) => run.output().includes("went"))).toEqual([true, true]);
  expect(await installs()).toBe(1);
});

test("a start that was killed while it installed does not block the next one", async () => {
  const { start, write, installs } = await givenWorkspace();
  await write(".scrip-install/pid", "999999999");
  expect(await start(["node", "-e", "0"]).exitCode).toBe(0);
  expect(await installs()).toBe(1);
});

test("a failed install prints the reason and runs nothing", async () => {
  const { start } = await givenWorkspace("echo some reason; exit 7");
  const run = start(["node", "-p", "'went'"]);
  expect(await run.exitCode).toBe(1);
  expect(run.output()).toContain("could not be installed (pnpm ended with 7):\n  some reason");
  expect(run.output()).not.toContain("went");
  expect(run.output()).not.toMatch(/\n\s+at /);
});

test.each([
  [
    "npm error code ENOTFOUND",
    "the npm registry cannot be reached. The first start needs a network connection",
  ],
  ["ERR_PNPM_ENOSPC  ENOSPC: no space left on device", "the disk is full. Free about 2 GB"],
  [
    "EACCES: permission denied, mkdir '/home/x/.npm'",
    "a folder cannot be written. Set npm_config_cache",
  ],
  ["ERR_PNPM_OUTDATED_LOCKFILE", "a package.json changed. Update the lock file: npx -y pnpm@"],
])("an install that fails with %j prints one line that says what to do", async (output, advice) => {
  const { start } = await givenWorkspace(`echo "${output}"; exit 1`);
  const run = start(["node", "-p", "'went'"]);
  expect(await run.exitCode).toBe(1);
  const lines = run
    .output()
    .split("\n")
    .filter((line) => line.startsWith("scrip:"));
  expect(lines.at(-1)).toContain(advice);
  expect(run.output()).not.toContain("went");
});

test("a home that cannot be written moves npm's home and cache into the checkout", async () => {
  const { start } = await givenWorkspace('echo "home $HOME, cache $npm_config_cache"');
  const run = start(["node", "-e", "0"], {
    HOME: "/nonexistent",
    npm_config_cache: "/nonexistent",
  });
  expect(await run.exitCode).toBe(0);
  expect(run.output()).toMatch(
    /home .*node_modules.\.scrip.home, cache .*node_modules.\.scrip.home/,
  );
});

const COUNTING = `
  let count = 0;
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {
    count += 1;
    setTimeout(() => { console.log(signal, count); process.exit(5); }, 300);
  });
  setInterval(() => {}, 1000);
  console.log("ready");
`;

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s from both the terminal and npm reaches the command once",
  async (signal) => {
    const { start } = await givenWorkspace();
    const run = start(["node", "-e", COUNTING]);
    await run.printed("ready");
    run.process.kill(signal);
    await sleep(50);
    run.process.kill(signal);
    expect(await run.exitCode).toBe(5);
    expect(run.output()).toContain(`${signal} 1`);
  },
);

test("the command ends with npm, which signals only the shell in between", async () => {
  const { start, write } = await givenWorkspace();
  await write("main.mjs", COUNTING);
  await write("package.json", `{ "scripts": { "start": "node scripts/run.mjs node main.mjs" } }`);
  const run = start(["npm", "start", "--silent"]);
  await run.printed("ready");
  const npm = execFileSync("pgrep", ["-P", String(run.process.pid)], { encoding: "utf8" });
  process.kill(Number(npm), "SIGTERM");
  await run.printed("SIGTERM 1");
  expect(run.output()).not.toContain("SIGTERM 2");
});

test("reports a command that does not exist without a stack trace", async () => {
  const { start } = await givenWorkspace();
  const run = start(["no-such-program"]);
  expect(await run.exitCode).toBe(1);
  expect(run.output()).toContain("scrip: no-such-program cannot be started");
  expect(run.output()).not.toMatch(/\n\s+at /);
});
