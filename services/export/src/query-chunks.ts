/** How many objects one query for assignments takes, and how many names one for units; a request takes more queries. */
const MAX_NAMES = 200;

/** The names of several queries. */
export const chunksOf = (names: readonly string[]): readonly string[][] =>
  Array.from({ length: Math.ceil(names.length / MAX_NAMES) }, (_, at) =>
    names.slice(at * MAX_NAMES, (at + 1) * MAX_NAMES),
  );
