import type { Stack } from "./stack.ts";

const MOST_LINES = 20;

/** The first lines that tell of failures, for a test that fails to show. */
export const loggedErrors = (stack: Stack): string =>
  stack
    .output()
    .split("\n")
    .filter((line) => line.startsWith('{"level":"error"'))
    .slice(0, MOST_LINES)
    .join("\n");
