import path from "node:path";

/**
 * Compiled code of the processes that tests start, which then start in little more than half the time.
 * It outlives a run, unlike the temporary files.
 */
export const COMPILE_CACHE = path.join(
  import.meta.dirname,
  "../../../../node_modules/.cache/scrip-compiled",
);
