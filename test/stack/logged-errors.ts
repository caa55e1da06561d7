import { existsSync, readFileSync } from "node:fs";

import { beforeEach } from "vitest";

import { usedLogs } from "./stack.ts";

const MAX_LINES = 20;
const HARMLESS_LEVELS: ReadonlySet<unknown> = new Set(["trace", "debug", "info"]);

/** Prints the first warnings and errors that the stacks logged during a failed test. */
beforeEach(({ onTestFailed }) => {
  const startTime = new Date().toISOString();
  onTestFailed(() => {
    const problems = usedLogs().flatMap((log) => problemsIn(log, startTime));
    for (const line of problems.slice(0, MAX_LINES)) console.log(line);
  });
});

/** The log file of a stopped stack no longer exists. */
function problemsIn(log: string, since: string): readonly string[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, "utf8").split("\n");
  return lines.filter((line) => {
    const { level, time } = parseLine(line);
    return !HARMLESS_LEVELS.has(level) && String(time) >= since;
  });
}

/** Lines that are not JSON come from Node.js itself, which prints only crashes. */
function parseLine(line: string): { readonly level?: unknown; readonly time?: unknown } {
  if (!line.startsWith("{")) return line.startsWith("Error") ? { time: "~" } : { level: "info" };
  try {
    return JSON.parse(line) as { level?: unknown; time?: unknown };
  } catch {
    return { level: "info" };
  }
}
