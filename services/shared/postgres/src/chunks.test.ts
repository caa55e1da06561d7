import { expect, test } from "vitest";

import { walkChunks } from "./chunks.ts";

/** The positions from which chunks of three of so many rows are read. */
async function positionsOf(rows: number): Promise<readonly number[]> {
  const positions: number[] = [];
  await walkChunks({ start: 0, size: 3 }, async (after) => {
    positions.push(after);
    const count = Math.min(3, rows - after);
    return { last: count === 0 ? null : after + count, count };
  });
  return positions;
}

test.each([
  [0, [0]],
  [2, [0]],
  [3, [0, 3]],
  [7, [0, 3, 6]],
])("walks %i rows in chunks of three", async (rows, positions) => {
  expect(await positionsOf(rows)).toEqual(positions);
});

test("ends when there is no chunk", async () => {
  let chunks = 0;
  await walkChunks({ start: "", size: 1 }, async () => {
    chunks += 1;
    return undefined;
  });
  expect(chunks).toBe(1);
});
