import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import path from "node:path";

import { expect, onTestFinished, test, vi } from "vitest";

// The commands of the README in a fresh checkout: the only test that installs packages.
const ROOT = path.join(import.meta.dirname, "../../..");

vi.setConfig({ testTimeout: 600_000 });

/** On the disk of the package store: pnpm would create another store on a file system in memory. */
const DISK = process.platform === "linux" ? "/var/tmp" : tmpdir();

test("npm start and npm test work in a folder with spaces that only its owner can enter", async () => {
  const checkout = await copyCheckout();

  const scrip = start(checkout, ["start"]);
  await expect.poll(scrip.output, { timeout: 300_000 }).toContain("Scrip is ready.");
  const keys = await readFile(path.join(checkout, ".scrip/keys.env"), "utf8");
  const token = await requestToken(keys);
  expect(token.status).toBe(200);
  scrip.interrupt();
  await scrip.exitCode;
  expect(scrip.output()).toContain("Stopping");

  const file = "services/shared/testing/test/database.test.ts";
  const tests = start(checkout, ["test", "--", "--project", "integration", file]);
  expect([await tests.exitCode, tests.output()]).toEqual([0, expect.stringMatching(/ passed/)]);
});

/** A copy of the tracked files, below a folder of mode 0700 whose name contains a space. */
async function copyCheckout(): Promise<string> {
  const folder = await mkdtemp(path.join(DISK, "scrip first start "));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const files = execFileSync("git", list, { cwd: ROOT, encoding: "utf8", maxBuffer: 2 ** 26 });
  const checkout = path.join(folder, "my shop");
  for (const file of files.split("\0").filter((name) => name !== "")) {
    await cp(path.join(ROOT, file), path.join(checkout, file));
  }
  return checkout;
}

function start(checkout: string, args: readonly string[]) {
  const child = spawn("npm", args, {
    cwd: checkout,
    env: { ...npmSettings(), PATH: process.env["PATH"], HOME: homedir(), SCRIP_PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  // A terminal sends Ctrl-C to the whole process group.
  const interrupt = (): void => void process.kill(-(child.pid ?? 0), "SIGINT");
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) interrupt();
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return { interrupt, output: () => output, exitCode: once(child, "close").then(([code]) => code) };
}

/** Which registry to use, where the machine sets it by variables. */
const npmSettings = (): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^npm_config_(registry|userconfig)$/i.test(name),
    ),
  );

function requestToken(keys: string): Promise<Response> {
  const get = (name: string): string => new RegExp(`${name}='([^']*)'`).exec(keys)?.[1] ?? "";
  return fetch(`${get("SCRIP_BASE_URL")}/v1/oauth/token`, {
    method: "POST",
    headers: { "x-app-id": get("SCRIP_APP_ID"), "x-app-token": get("SCRIP_APP_TOKEN") },
    body: new URLSearchParams({ grant_type: "client_credentials", scope: "api" }),
  });
}
