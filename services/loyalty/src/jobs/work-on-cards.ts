import { isUnavailable } from "@scrip/postgres";

import type { StepResult } from "./nightly-step.ts";

/**
 * Card ids that one statement reads. No index has both their order and what is due: each statement may read and sort all cards
 * that are due, and all of a program are when its points expire at the end of the year.
 */
const IDS = 20_000;

/** Pages of `size` card ids, in their order. `next` reads the ids after one of them. */
export async function* pagesOf(
  size: number,
  next: (after: string, limit: number) => Promise<readonly string[]>,
): AsyncGenerator<readonly string[]> {
  for (let after: string | undefined = ""; after !== undefined;) {
    const ids: readonly string[] = await next(after, IDS);
    for (let from = 0; from < ids.length; from += size) yield ids.slice(from, from + size);
    after = ids.length < IDS ? undefined : ids.at(-1);
  }
}

/**
 * Works on cards page by page. When a page fails, each of its cards is worked on alone, so that a card that fails does
 * not keep the others waiting. Without a database it throws: the next run repeats the step. Stops once `isOver`.
 */
export async function workOnCards(
  pages: AsyncIterable<readonly string[]>,
  work: (cardIds: readonly string[]) => Promise<void>,
  isOver: () => boolean,
): Promise<StepResult> {
  let failed = 0;
  let failure: Error | null = null;
  const attempt = async (cardIds: readonly string[]): Promise<void> => {
    try {
      await work(cardIds);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      if (cardIds.length > 1) {
        for (const cardId of cardIds) await attempt([cardId]);
        return;
      }
      failed += 1;
      failure = new Error(`cards failed: ${failed}, the last one is ${cardIds[0]}`, {
        cause: error,
      });
    }
  };
  for await (const cardIds of pages) {
    if (isOver()) return { finished: false, failure };
    await attempt(cardIds);
  }
  return { finished: true, failure };
}
