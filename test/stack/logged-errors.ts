import { outputOf, type Stack } from "./compositions.ts";

const MOST_LINES = 20;

/** The first lines that tell of failures, for a test that fails to show. */
export const loggedErrors = (stack: Pick<Stack, "log">): string =>
  outputOf(stack)
    .split("\n")
    .filter((line) => line.startsWith('{"level":"error"'))
    .slice(0, MOST_LINES)
    .join("\n");
