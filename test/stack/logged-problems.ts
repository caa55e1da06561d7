import { existsSync, readFileSync } from "node:fs";

const MAX_LINES = 20;
const HARMLESS_LEVELS: ReadonlySet<unknown> = new Set(["trace", "debug", "info"]);

/** The first warnings and errors that stacks logged since a time; the log file of a stopped stack no longer exists. */
export const problemsIn = (logs: readonly string[], since: string): readonly string[] =>
  logs.flatMap((log) => problemsOf(log, since)).slice(0, MAX_LINES);

function problemsOf(log: string, since: string): readonly string[] {
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
