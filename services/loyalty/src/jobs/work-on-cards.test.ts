import { expect, test } from "vitest";

import { pagesOf } from "./work-on-cards.ts";

const CARDS = 45_000;
const ids = Array.from({ length: CARDS }, (_, index) => `v_${String(index).padStart(6, "0")}`);

test("pages of cards are yielded in order, with few statements for their ids", async () => {
  const reads: number[] = [];
  const pages = pagesOf(500, async (after, limit) => {
    const found = ids.filter((id) => id > after).slice(0, limit);
    reads.push(found.length);
    return found;
  });
  const found: string[][] = [];
  for await (const page of pages) found.push([...page]);
  expect(found.flat()).toEqual(ids);
  expect(found).toHaveLength(CARDS / 500);
  expect(reads).toEqual([20_000, 20_000, 5_000]);
});

test("a step without cards reads their ids once", async () => {
  let reads = 0;
  const pages = pagesOf(500, async () => {
    reads += 1;
    return [];
  });
  expect((await pages.next()).done).toBe(true);
  expect(reads).toBe(1);
});
