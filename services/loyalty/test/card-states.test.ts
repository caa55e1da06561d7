import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { newId } from "@scrip/ids";
import {
  CampaignVouchersDeletedSchema,
  VoucherDeletedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";

import { VOUCHERS_TOPIC } from "../src/events/on-member.ts";
import { findCardsOf } from "../src/store/loyalty-members.ts";
import { newEvent, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { DAY, earningIn, PER_EURO, storeProgram } from "./earning-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db } = loyalty;
const { earn, publish, setUp, join } = earningIn(loyalty);

type State = {
  readonly active?: boolean;
  readonly start?: number | undefined;
  readonly end?: number | undefined;
};

const limits = ({ active = true, start, end }: State) => ({
  active,
  ...(start !== undefined && { startDate: timestampFromMs(start) }),
  ...(end !== undefined && { expirationDate: timestampFromMs(end) }),
});

describe("a card earns by its state", () => {
  test.each<[string, State, boolean]>([
    ["that is disabled earns nothing", { active: false }, false],
    ["that starts later earns nothing", { start: NOON + 1 }, false],
    ["that starts at the time of the event earns", { start: NOON }, true],
    ["that has expired earns nothing", { end: NOON - 1 }, false],
    ["that expires at the time of the event earns", { end: NOON }, true],
    ["that is enabled within its dates earns", { start: NOON - DAY, end: NOON + DAY }, true],
  ])("one %s", async (_, state, earns) => {
    const program = await setUp([PER_EURO], { autoJoin: true });
    const { cardId, customerId } = await join(program);
    await publish([program.cardChanged(cardId, { version: 2n, ...limits(state) })]);
    await earn([program.paid(customerId, 500n)]);
    expect((await program.ledger()).map(({ points }) => points)).toEqual(earns ? [5n] : []);
    // A member with a card does not join again.
    expect(await program.requests()).toEqual([]);
  });

  test("only those of several cards that can be used earn", async () => {
    const program = await setUp([PER_EURO]);
    const { cardId, customerId } = await join(program);
    const second = newId("v");
    await publish([
      program.published(customerId, { cardId: second }),
      program.cardChanged(cardId, { version: 2n, active: false }),
    ]);
    await earn([program.paid(customerId, 500n)]);
    expect(await program.ledger()).toMatchObject([{ card_id: second, points: 5n }]);
  });

  test("one that is enabled again earns for later events, not for those in between", async () => {
    const program = await setUp([PER_EURO]);
    const { cardId, customerId } = await join(program);
    const paid = program.paid(customerId, 500n);
    await publish([program.cardChanged(cardId, { version: 2n, active: false })]);
    await earn([paid]);
    await publish([program.cardChanged(cardId, { version: 3n })]);
    await earn([paid, program.paid(customerId, 900n)]);
    expect(await program.ledger()).toMatchObject([{ points: 9n }]);
  });

  test("one that joined for the event earns although it starts after the event", async () => {
    const program = await setUp([PER_EURO], { autoJoin: true });
    const customerId = await program.newCustomer();
    await earn([program.paid(customerId, 500n)]);
    const cardId = newId("v");
    await publish([
      program.cardChanged(cardId, {
        version: 2n,
        ...limits({ start: NOON + 50, end: NOON + DAY }),
      }),
      program.published(customerId, { cardId, at: NOON + 50 }),
    ]);
    expect(await program.ledger()).toMatchObject([{ card_id: cardId, points: 5n }]);
  });

  test("a card that is published disabled earns nothing for the events that waited for it", async () => {
    const program = await setUp([PER_EURO], { autoJoin: true });
    const customerId = await program.newCustomer();
    await earn([program.paid(customerId, 500n)]);
    const cardId = newId("v");
    await publish([
      program.cardChanged(cardId, { version: 2n, active: false }),
      program.published(customerId, { cardId, at: NOON + 50 }),
    ]);
    expect(await program.ledger()).toEqual([]);
  });
});

test("a rule with later dates of its own grants nothing after the end of its program", async () => {
  const program = await setUp([{ ...PER_EURO, expirationDate: timestampFromMs(NOON + DAY) }]);
  const { customerId } = await join(program);
  const { projectId, campaignId: id } = program;
  const dates = { startDate: null, expirationDate: NOON - 1 };
  const validity = { ...dates, timeframe: null, daysOfWeek: null, hours: null };
  await storeProgram(db, { projectId, id, validity });
  await earn([program.paid(customerId, 500n)]);
  expect(await program.ledger()).toEqual([]);
});

test("states that arrive three times in any order leave the newest one, before or after the publication", async () => {
  const change = fc.record({
    active: fc.boolean(),
    start: fc.option(fc.integer({ min: NOON - 2, max: NOON + 2 }), { nil: undefined }),
    end: fc.option(fc.integer({ min: NOON - 2, max: NOON + 2 }), { nil: undefined }),
  });
  const scenario = fc.array(change, { minLength: 1, maxLength: 5 }).chain((changes) =>
    fc.record({
      changes: fc.constant(changes),
      order: fc.shuffledSubarray(
        Array.from({ length: (changes.length + 1) * 3 }, (_, index) => index),
        { minLength: (changes.length + 1) * 3 },
      ),
      batch: fc.integer({ min: 1, max: 6 }),
    }),
  );
  const program = await setUp([PER_EURO]);
  await fc.assert(
    fc.asyncProperty(scenario, async ({ changes, order, batch }) => {
      const customerId = await program.newCustomer();
      const cardId = newId("v");
      const events = [
        program.published(customerId, { cardId }),
        ...changes.map((one, index) =>
          program.cardChanged(cardId, { version: BigInt(index + 2), ...limits(one) }),
        ),
      ];
      const deliveries = order.map((index) => events[index % events.length]!);
      for (let at = 0; at < deliveries.length; at += batch)
        await publish(deliveries.slice(at, at + batch));
      await earn([program.paid(customerId, 500n)]);
      const { active, start = NOON, end = NOON } = changes.at(-1)!;
      const entries = (await program.ledger()).filter((entry) => entry["card_id"] === cardId);
      expect(entries).toHaveLength(active && start <= NOON && end >= NOON ? 1 : 0);
    }),
    { numRuns: 25 },
  );
  expect(await program.violations()).toEqual([]);
});

describe("the holder and the state of a card are deleted", () => {
  const topic = { topic: VOUCHERS_TOPIC };
  test.each([
    [
      "with the card",
      (projectId: string, voucherId: string) =>
        newEvent(VoucherDeletedSchema, { projectId, ...topic }, { projectId, voucherId }),
    ],
    [
      "with the campaign of the card",
      (projectId: string, voucherId: string) => {
        const voucherIds = [voucherId, newId("v")];
        const deleted = { projectId, campaignId: newId("camp"), voucherIds };
        return newEvent(CampaignVouchersDeletedSchema, { projectId, ...topic }, deleted);
      },
    ],
  ])("%s", async (_, deletionOf) => {
    const program = await setUp([PER_EURO]);
    const { projectId } = program;
    const { cardId, customerId } = await join(program);
    const { cardId: otherId } = await join(program);
    const states = [cardId, otherId].map((id) =>
      program.cardChanged(id, { version: 2n, active: false }),
    );
    await publish(states);
    await publish([deletionOf(projectId, cardId)]);
    const { rows } = await db.query("select card_id from card_state where project_id = $1", [
      projectId,
    ]);
    expect(rows).toEqual([{ card_id: otherId }]);
    expect(await findCardsOf(db, projectId, customerId)).toEqual([]);
  });
});
