import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

import type { Json } from "./api.ts";
import type { Stack } from "./compositions.ts";
import { ROOT } from "./process.ts";

const run = promisify(execFile);
const CLI = path.join(ROOT, "cli/src/main.ts");

/** What `scrip check-invariants` finds wrong with the books of a running system, as lines to read. */
export async function brokenInvariants({ databaseUrl }: Stack): Promise<readonly string[]> {
  const { stdout } = await run(process.execPath, [CLI, "check-invariants", "--json"], {
    env: { PATH: process.env["PATH"], DATABASE_URL: databaseUrl },
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
