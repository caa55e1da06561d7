import { chunksOf } from "@scrip/rpc";

/** How many objects one query for assignments takes, and how many names one for units; a request takes more queries. */
const MAX_NAMES = 200;

/** The names of several queries. */
export const queryChunksOf = (names: readonly string[]): readonly string[][] =>
  chunksOf(names, MAX_NAMES);
