import { existsSync, readFileSync } from "node:fs";

import { beforeEach } from "vitest";

import { usedLogs } from "./stack.ts";

const MOST_LINES = 20;
const HARMLESS: ReadonlySet<unknown> = new Set(["trace", "debug", "info"]);

/** A test that fails shows the first that its stacks complained of meanwhile. */
beforeEach(({ onTestFailed }) => {
  const begun = new Date().toISOString();
  onTestFailed(() => {
    const complaints = usedLogs().flatMap((log) => complaintsIn(log, begun));
    for (const line of complaints.slice(0, MOST_LINES)) console.log(line);
  });
});

/** The log of a stack that has ended is gone. */
function complaintsIn(log: string, since: string): readonly string[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, "utf8").split("\n");
  return lines.filter((line) => {
    const { level, time } = parse(line);
    return !HARMLESS.has(level) && String(time) >= since;
  });
}

/** What is not one of our lines was written by Node itself, which has trouble then. */
function parse(line: string): { readonly level?: unknown; readonly time?: unknown } {
  if (!line.startsWith("{")) return line.startsWith("Error") ? { time: "~" } : { level: "info" };
  try {
    return JSON.parse(line) as { level?: unknown; time?: unknown };
  } catch {
    return { level: "info" };
  }
}
