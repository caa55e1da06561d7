import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

import { ROOT } from "../stack/process.ts";
import { brokerIn, type Installation } from "./installation.ts";

const run = promisify(execFile);
const CLI = path.join(ROOT, "cli/src/main.ts");

export async function listDeadLetters(
  installation: Installation,
  group: string,
): Promise<readonly unknown[]> {
  const list = ["list", "--group", group, "--limit", "1000"];
  return JSON.parse(await deadLetters(installation, list)) as unknown[];
}

export async function replayDeadLetters(installation: Installation, group: string): Promise<void> {
  await deadLetters(installation, ["replay", "--group", group]);
}

/** `scrip dead-letters`, as an operator runs it. */
async function deadLetters(installation: Installation, args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [CLI, "--json", "dead-letters", ...args], {
    env: {
      PATH: process.env["PATH"],
      DATABASE_URL: installation.stack.databaseUrl,
      SCRIP_KAFKA_BROKERS: brokerIn(installation).brokers,
    },
    maxBuffer: 256 * 1024 * 1024,
  });
  return stdout;
}
