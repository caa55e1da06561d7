import { isUnavailable } from "@scrip/postgres";

import type { StepResult } from "./nightly-step.ts";

/** Pages of card ids, each after the last id of the page before, until one is empty. */
export async function* pagesOf(
  next: (after: string) => Promise<readonly string[]>,
): AsyncGenerator<readonly string[]> {
  for (let after = ""; ;) {
    const page = await next(after);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last;
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
