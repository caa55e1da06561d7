import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

import type { Json } from "./api.ts";
import type { Stack } from "./compositions.ts";
import { COMPILE_CACHE, ROOT } from "./process.ts";

const run = promisify(execFile);
const CLI = path.join(ROOT, "cli/src/main.ts");

/**
 * What `scrip check-invariants` finds wrong with the books of a running system, as lines to read: of
 * one project, or of all where nobody else is at work.
 */
export async function invariantViolations(
  { databaseUrl }: Pick<Stack, "databaseUrl">,
  projectId?: string,
): Promise<readonly string[]> {
  const only = projectId === undefined ? [] : ["--project", projectId];
  const { stdout } = await run(process.execPath, [CLI, "check-invariants", "--json", ...only], {
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      DATABASE_URL: databaseUrl,
    },
    maxBuffer: 64 * 1024 * 1024,
    // Violations end it with exit code 1; they are in what it wrote, which is all that counts.
  }).catch((error: { readonly stdout?: string }) => {
    if (!error.stdout) throw error;
    return { stdout: error.stdout };
  });
  const { findings } = JSON.parse(stdout) as Json;
  if (findings.length === 0) throw new Error("the books are empty: nothing was checked");
  return findings.flatMap(({ invariant, violations }: Json) =>
    violations.map(({ subject, details }: Json) => `${invariant}: ${subject} ${details}`),
  );
}
