import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { newId } from "@scrip/ids";
import { ValidationRuleChangedSchema } from "@scrip/proto/scrip/events/v1/rules_pb";
import { afterAll, describe, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { onValidationRule, RULES_TOPIC } from "../src/events/on-validation-rule.ts";
import { deliveryFrom, newEvent, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { DAY, earningIn, PER_EURO, storeProgram } from "./earning-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { earningRules } = loyalty;
const { earn, publish, setUp, join } = earningIn(loyalty);

describe("earning points", () => {
  test("credits every rule of a paid order once, with an expiration date and what caused it", async () => {
    const program = await setUp([
      { ...PER_EURO, source: { banner: "A point per euro" } },
      { event: "order.paid", loyalty: { type: "FIXED", points: 5n } },
      { event: "order.paid", loyalty: { type: "FIXED", points: 9n }, active: false },
      { event: "viewed", loyalty: { type: "FIXED", points: 7n } },
    ]);
    const { customerId, cardId } = await join(program);
    const paid = program.paid(customerId, 1_250n);
    await earn([paid]);
    await earn([paid, paid]);
    const entry = { card_id: cardId, type: "POINTS_ACCRUAL", source: "Automation" };
    expect(await program.ledger()).toMatchObject([
      { ...entry, points: 5n },
      {
        ...entry,
        points: 12n,
        lots: { "2026-04-01": 12 },
        details: {
          order: { source_id: "o-1" },
          event: { id: paid.id, type: "customer.order.paid" },
          earning_rule: { id: program.rules[0]!.id, source: { banner: "A point per euro" } },
        },
      },
    ]);
    expect(await program.violations()).toEqual([]);
  });

  test("applies a rule that another process created just before the order was paid", async () => {
    const program = await setUp([{ event: "viewed", loyalty: { type: "FIXED", points: 7n } }]);
    const { campaignId, call } = program;
    const { customerId, cardId } = await join(program);
    await earn([program.paid(customerId, 1_250n)]);
    await earningRules.createEarningRules({ campaignId, rules: [PER_EURO] }, call);
    await earn([program.paid(customerId, 1_250n)]);
    expect(await program.ledger()).toMatchObject([{ card_id: cardId, points: 12n }]);
  });

  test("leaves a record of the events of projects with earning rules only", async () => {
    const without = await setUp([]);
    await earn([without.paid(await without.newCustomer(), 1_250n)]);
    expect(await without.handled()).toEqual([]);

    const inactive = await setUp([{ ...PER_EURO, active: false }]);
    const { customerId } = await join(inactive);
    const paid = inactive.paid(customerId, 1_250n);
    await earn([paid, paid]);
    expect(await inactive.handled()).toEqual([paid.id]);
    const [rule] = inactive.rules;
    await earningRules.enableEarningRule(
      { campaignId: inactive.campaignId, earningRuleId: rule!.id },
      inactive.call,
    );
    await earn([paid]);
    expect(await inactive.ledger()).toEqual([]);
  });

  test("grants pending points once, which count on the card and nowhere else", async () => {
    const program = await setUp([
      { ...PER_EURO, pendingPoints: { periodType: "DAY", periodValue: 14n } },
    ]);
    const { customerId, cardId } = await join(program);
    const paid = program.paid(customerId, 3_000n);
    await earn([paid]);
    await earn([{ ...paid, id: newId("event") }]);
    expect(await program.pending()).toEqual([
      {
        card_id: cardId,
        points: 30n,
        status: "PENDING",
        activates_on: "2026-03-15",
        pending_points: 30n,
      },
    ]);
    expect(await program.ledger()).toEqual([]);
    // The rule changed since: the same order still grants nothing more.
    const [rule] = program.rules;
    await earningRules.updateEarningRule(
      {
        campaignId: program.campaignId,
        earningRuleId: rule!.id,
        updateMask: { paths: ["pending_points"] },
      },
      program.call,
    );
    await earn([{ ...paid, id: newId("event") }]);
    expect(await program.ledger()).toEqual([]);
  });

  test("earns for custom events, by their metadata, on the named card only, if the validation rule holds", async () => {
    const conditions = {
      rules: {
        "1": { name: "custom_event.metadata", property: "stars", conditions: { $more_than: [3] } },
      },
      changed_at: new Date(NOON).toISOString(),
    };
    const loyaltyOf = {
      type: "PROPORTIONAL",
      calculationType: "CUSTOM_EVENT_METADATA",
      customEvent: { metadata: { every: 1n, points: 10n, property: "stars" } },
    };
    const program = await setUp([
      {
        event: "reviewed",
        loyalty: loyaltyOf,
        validationRuleId: "val_1",
        validationRule: conditions,
      },
    ]);
    const { customerId, cardId } = await join(program);
    await earn([
      program.happened(customerId, "reviewed", { metadata: { stars: 5 } }),
      program.happened(customerId, "reviewed", { metadata: { stars: 2 } }),
      program.happened(customerId, "reviewed", {
        metadata: { stars: 4 },
        loyaltyCardId: "v_other",
      }),
      program.happened(customerId, "viewed", { metadata: { stars: 5 } }),
    ]);
    expect(await program.ledger()).toMatchObject([{ card_id: cardId, points: 50n }]);
    // The validation rule changes, and is deleted; an event of an older state arrives again.
    const { projectId } = program;
    const ruleChanged = (at: number, fields: object) =>
      newEvent(
        ValidationRuleChangedSchema,
        { projectId, topic: RULES_TOPIC },
        { projectId, ruleId: "val_1", date: timestampFromMs(at), ...fields },
      );
    const consume = onValidationRule(createDeps(loyalty.db));
    const wider = { ...conditions.rules["1"], conditions: { $more_than: [1] } };
    const widened = ruleChanged(NOON + 1, { rules: { "1": wider } });
    const reviewed = () => program.happened(customerId, "reviewed", { metadata: { stars: 2 } });
    await consume([widened], deliveryFrom(RULES_TOPIC));
    await expect.poll(async () => (await earn([reviewed()]), program.ledger())).toHaveLength(2);
    await consume([ruleChanged(NOON + 2, { deleted: true })], deliveryFrom(RULES_TOPIC));
    await consume([widened], deliveryFrom(RULES_TOPIC));
    const { rows } = await loyalty.db.query<{ rules: unknown }>(
      "select rules from validation_rule where project_id = $1",
      [projectId],
    );
    expect(rows).toEqual([{ rules: null }]);
  });

  test("waits for a card whose publication arrives later, and earns nothing for events before the publication", async () => {
    const program = await setUp([PER_EURO]);
    const [early, late] = [await program.newCustomer(), await program.newCustomer()];
    const events = [program.paid(early, 1_000n), program.paid(late, 2_000n)];
    await earn(events);
    expect(await program.ledger()).toEqual([]);
    const cards = [
      program.published(early, { at: NOON - 1 }),
      program.published(late, { at: NOON + 1 }),
    ];
    await publish(cards);
    await publish(cards);
    await earn(events);
    expect(await program.ledger()).toMatchObject([{ points: 10n }]);
    expect(await program.requests()).toEqual([]);
  });

  test("requests a card of a program that customers join automatically, and earns when it is published", async () => {
    const program = await setUp([PER_EURO], { autoJoin: true });
    const customerId = await program.newCustomer();
    const paid = program.paid(customerId, 1_000n);
    await earn([paid]);
    await earn([paid]);
    expect(await program.requests()).toMatchObject([
      { customerId, campaignId: program.campaignId },
    ]);
    await publish([program.published(customerId, { at: NOON + DAY })]);
    await earn([program.paid(customerId, 500n)]);
    expect(await program.ledger()).toMatchObject([{ points: 5n }, { points: 10n }]);
    expect(await program.requests()).toHaveLength(1);
  });

  test("earns nothing in an inactive program, and nothing for customers who were deleted", async () => {
    const inactive = await setUp([PER_EURO], { active: false });
    const member = await join(inactive);
    await earn([inactive.paid(member.customerId, 1_000n)]);
    expect(await inactive.ledger()).toEqual([]);
    const program = await setUp([PER_EURO], { autoJoin: true });
    await earn([program.paid("cust_unknown", 1_000n)]);
    expect(await program.requests()).toEqual([]);
  });

  test("results in the same ledger, however often and in whichever order events arrive", async () => {
    const program = await setUp([
      PER_EURO,
      { ...PER_EURO, pendingPoints: { periodType: "DAY", periodValue: 2n } },
      { event: "viewed", loyalty: { type: "FIXED", points: 3n } },
    ]);
    const ids = await Promise.all(Array.from({ length: 6 }, () => program.newCustomer()));
    const cards = ids.map((id) => program.published(id));
    const events = ids.flatMap((id, index) => [
      program.paid(id, 1_000n * BigInt(index + 1)),
      program.paid(id, 333n),
      program.happened(id, "viewed"),
    ]);
    const deliveries = shuffled([...events, ...events, ...events]);
    const publications = shuffled([...cards, ...cards, ...cards]);
    // Batches of both consumers run concurrently, and overlap.
    for (let at = 0; at < deliveries.length; at += 6) {
      const batch = deliveries.slice(at, at + 6);
      await Promise.all([
        earn(batch),
        earn(batch.slice(2)),
        publish(publications.slice(at / 3, at / 3 + 2)),
      ]);
    }
    const ledger = await program.ledger();
    expect(ledger).toHaveLength(18);
    const sum = (of: readonly Record<string, unknown>[]) =>
      of.reduce((total, { points }) => total + (points as bigint), 0n);
    expect(sum(ledger)).toBe(210n + 6n * 3n + 6n * 3n);
    const pending = await program.pending();
    expect([pending.length, sum(pending)]).toEqual([12, 228n]);
    expect(await program.violations()).toEqual([]);
  });
});

/** In a fixed order without a pattern. */
const shuffled = <Item>(items: readonly Item[]): readonly Item[] =>
  items
    .map((item, index) => ({ item, rank: ((index * 7_919) % 104_729) % 101 }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);

test("EstimateEarnings sums the live rules of a program that hold, pending points included, and credits nothing", async () => {
  const wholesale = {
    rules: {
      "1": { name: "customer.metadata", property: "kind", conditions: { $is: ["wholesale"] } },
      "2": { name: "customer.segment", conditions: { $is: ["seg_1"] } },
      logic: "1 or 2",
    },
    changed_at: new Date(NOON).toISOString(),
  };
  const gold = {
    rules: { "1": { name: "customer.loyalty.tier", conditions: { $is: ["ltr_1"] } } },
    changed_at: new Date(NOON).toISOString(),
  };
  const fixed = (points: bigint) => ({
    event: "order.paid",
    loyalty: { type: "FIXED", points },
  });
  const program = await setUp([
    PER_EURO,
    { ...fixed(100n), pendingPoints: { periodType: "DAY", periodValue: 14n } },
    { ...fixed(1_000n), validationRuleId: "val_1", validationRule: wholesale },
    { ...fixed(5_000n), validationRuleId: "val_2", validationRule: gold },
    { ...fixed(10_000n), active: false },
    { ...fixed(10_000n), startDate: { seconds: BigInt((NOON + DAY) / 1_000), nanos: 0 } },
    { event: "viewed", loyalty: { type: "FIXED", points: 10_000n } },
  ]);
  const { campaignId, call } = program;
  const other = [{ ...fixed(10_000n) }];
  const otherId = newId("camp");
  await storeProgram(loyalty.db, { projectId: call.project.id, id: otherId });
  await earningRules.createEarningRules({ campaignId: otherId, rules: other }, call);
  const estimate = async (fields: object): Promise<bigint> => {
    const request = { campaignId, order: { amount: 1_250n }, ...fields };
    return (await earningRules.estimateEarnings(request, call)).points;
  };
  expect(await estimate({})).toBe(112n);
  expect(await estimate({ customerMetadata: { kind: "wholesale" } })).toBe(1_112n);
  expect(await estimate({ segmentIds: ["seg_1"] })).toBe(1_112n);
  const unreadable = { customerMetadata: { kind: "wholesale" }, unreadableSegmentIds: ["seg_1"] };
  expect(await estimate(unreadable)).toBe(112n);
  expect(await estimate({ loyaltyTierIds: ["ltr_1"] })).toBe(5_112n);
  expect(await program.ledger()).toEqual([]);
});
