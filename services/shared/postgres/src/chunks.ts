export type ReadChunk<Position> = {
  /** Where the chunk ended; null when it is empty. */
  readonly last: Position | null;
  readonly count: number;
};

/**
 * Walks a table in chunks of `size` rows in the order of a key. `next` processes the chunk after a position; undefined
 * or fewer rows than `size` end the walk.
 */
export async function walkChunks<Position>(
  { start, size }: { readonly start: Position; readonly size: number },
  next: (after: Position) => Promise<ReadChunk<Position> | undefined>,
): Promise<void> {
  for (let after: Position | null = start; after !== null;) {
    const chunk: ReadChunk<Position> | undefined = await next(after);
    after = chunk === undefined || chunk.count < size ? null : chunk.last;
  }
}

/**
 * Repeats a statement that changes a limited number of rows until it changes none. A single statement for all rows
 * could exceed the timeout.
 */
export async function repeatUntilNoRows(
  changeSome: () => Promise<{ readonly rowCount: number | null }>,
): Promise<void> {
  while (((await changeSome()).rowCount ?? 0) > 0);
}
