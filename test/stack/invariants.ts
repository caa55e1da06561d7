import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

import { COMPILE_CACHE } from "@scrip/testing/compile-cache";

import type { Json } from "./api.ts";
import type { Stack } from "./compositions.ts";
import { ROOT } from "./process.ts";

const run = promisify(execFile);
const CLI = path.join(ROOT, "cli/src/main.ts");

/**
 * Violations that `scrip check-invariants` reports for a running system, one line each. Pass the project
 * when other tests use the same stack, and `SCRIP_KAFKA_BROKERS` when events are in Kafka.
 */
export async function invariantViolations(
  { databaseUrl }: Pick<Stack, "databaseUrl">,
  projectId?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const only = projectId === undefined ? [] : ["--project", projectId];
  const { stdout } = await run(process.execPath, [CLI, "check-invariants", "--json", ...only], {
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      DATABASE_URL: databaseUrl,
      ...env,
    },
    maxBuffer: 64 * 1024 * 1024,
    // On violations the command exits with code 1 and prints them.
  }).catch((error: { readonly stdout?: string }) => {
    if (!error.stdout) throw error;
    return { stdout: error.stdout };
  });
  const { findings } = JSON.parse(stdout) as Json;
  if (findings.length === 0) throw new Error("no invariants were checked");
  return findings.flatMap(({ invariant, violations }: Json) =>
    violations.map(({ subject, details }: Json) => `${invariant}: ${subject} ${details}`),
  );
}
