import type { DeliveredEvent } from "@scrip/events";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { startLoyalty } from "./deps.ts";
import { earningIn, PER_EURO } from "./earning-programs.ts";

const CARDS = 4;
const TIMES = 3;
const MAX_BATCH = 7;

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { earn, setUp, join } = earningIn(loyalty);

type Paid = { readonly card: number; readonly euros: number; readonly isOrder: boolean };

const paidEvents = fc.array(
  fc.record({
    card: fc.nat(CARDS - 1),
    euros: fc.integer({ min: 1, max: 500 }),
    isOrder: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
);

/** A program with these events, which are not delivered yet. */
async function prepare(paid: readonly Paid[]) {
  const program = await setUp([
    PER_EURO,
    { event: "order.paid", loyalty: { type: "FIXED", points: 3n } },
    { event: "visited", loyalty: { type: "FIXED", points: 7n } },
  ]);
  const members: Awaited<ReturnType<typeof join>>[] = [];
  for (let card = 0; card < CARDS; card += 1) members.push(await join(program));
  const events = paid.map(({ card, euros, isOrder }): DeliveredEvent => {
    const { customerId } = members[card]!;
    return isOrder
      ? program.paid(customerId, BigInt(euros) * 100n)
      : program.happened(customerId, "visited");
  });
  /** What each card has earned, in whichever order: points and their number of entries. */
  const earned = async () => {
    const entries = await program.ledger();
    return members.map(({ cardId }) =>
      entries
        .filter((entry) => entry["card_id"] === cardId)
        .map((entry) => Number(entry["points"]))
        .toSorted((a, b) => a - b),
    );
  };
  return { program, events, earned };
}

test("events that arrive three times in any order earn what they earn once in their order", async () => {
  await fc.assert(
    fc.asyncProperty(
      paidEvents.chain((paid) =>
        fc.record({
          paid: fc.constant(paid),
          order: fc.shuffledSubarray(
            Array.from({ length: paid.length * TIMES }, (_, index) => index),
            { minLength: paid.length * TIMES },
          ),
        }),
      ),
      async ({ paid, order }) => {
        const once = await prepare(paid);
        await earn(once.events);
        const shuffled = await prepare(paid);
        const deliveries = order.map((index) => shuffled.events[index % paid.length]!);
        for (let start = 0; start < deliveries.length; start += MAX_BATCH)
          await earn(deliveries.slice(start, start + MAX_BATCH));
        expect(await shuffled.earned()).toEqual(await once.earned());
        expect(await shuffled.program.violations()).toEqual([]);
      },
    ),
    { numRuns: 8 },
  );
});
