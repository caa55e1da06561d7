import { create, type JsonObject } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { EarningRulesFoundSchema } from "@scrip/proto/scrip/events/v1/loyalty_programs_pb";
import {
  type NewEarningRuleSchema,
  UpdateEarningRuleRequestSchema,
} from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import { afterAll, describe, expect, test } from "vitest";

import { newCall } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { storeProgram } from "./earning-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { customEvents, earningRules, segments } = loyalty;

type Rule = MessageInitShape<typeof NewEarningRuleSchema>;

const PER_EURO = {
  type: "PROPORTIONAL",
  calculationType: "ORDER_AMOUNT",
  order: { amount: { every: 100n, points: 1n } },
};
const FIXED = { type: "FIXED", points: 10n };
const itemsRule = (target: object): Rule => ({
  event: "order.paid",
  loyalty: {
    type: "PROPORTIONAL",
    calculationType: "ORDER_ITEMS_QUANTITY",
    orderItems: { quantity: { every: 1n, points: 2n, ...target } },
  },
});
const conditions: JsonObject = {
  rules: { "1": { name: "order.amount", conditions: { $more_than: [100] } } },
  changed_at: "2026-03-01T00:00:00.000Z",
};

const setUp = () => {
  const call = newCall();
  const campaignId = "camp_1";
  const createRules = async (...rules: Rule[]) => {
    await storeProgram(loyalty.db, { projectId: call.project.id, id: campaignId });
    return (await earningRules.createEarningRules({ campaignId, rules }, call)).rules;
  };
  return { call, campaignId, createRules };
};

/** How often the service has told that a project has earning rules. */
async function countAnnouncements(projectId: string): Promise<number> {
  const { rows } = await loyalty.db.query(
    "select 1 from outbox where project_id = $1 and type = $2",
    [projectId, EarningRulesFoundSchema.typeName],
  );
  return rows.length;
}

describe("earning rules", () => {
  test("are announced by each write of one until the project says that it has some", async () => {
    const { call, campaignId, createRules } = setUp();
    const [rule] = await createRules({ event: "viewed", loyalty: FIXED });
    const request = { campaignId, earningRuleId: rule!.id };
    expect(await countAnnouncements(call.project.id)).toBe(1);
    await earningRules.disableEarningRule(request, call);
    expect(await countAnnouncements(call.project.id)).toBe(2);
    const known = { ...call, project: { ...call.project, hasEarningRules: true } };
    await earningRules.enableEarningRule(request, known);
    await earningRules.createEarningRules(
      { campaignId, rules: [{ event: "a", loyalty: FIXED }] },
      known,
    );
    expect(await countAnnouncements(call.project.id)).toBe(2);
  });

  test("are created in the order of the request, listed, changed by field and deleted", async () => {
    const { call, campaignId, createRules } = setUp();
    const created = await createRules(
      {
        event: "order.paid",
        loyalty: PER_EURO,
        pendingPoints: { periodType: "DAY", periodValue: 14n },
      },
      {
        ...itemsRule({ applicableTo: [{ object: "product", id: "prod_1" }] }),
        source: { banner: "Twice" },
        validationRuleId: "val_1",
        validationRule: conditions,
        expirationRules: { period_type: "MONTH", period_value: 3, rounding_type: "END_OF_MONTH" },
        active: false,
      } as Rule,
    );
    expect(created).toMatchObject([
      {
        event: "order.paid",
        loyalty: PER_EURO,
        pendingPoints: { periodType: "DAY", periodValue: 14n },
        source: { objectId: campaignId, objectType: "campaign" },
        active: true,
      },
      {
        loyalty: { orderItems: { quantity: { object: "product", id: "prod_1" } } },
        validationRuleId: "val_1",
        expirationRules: { period_type: "MONTH", period_value: 3, rounding_type: "END_OF_MONTH" },
        source: { banner: "Twice" },
        active: false,
      },
    ]);
    const [first, second] = created;
    const listed = await earningRules.listEarningRules({ campaignId, limit: 1n }, call);
    expect([listed.total, listed.data.length]).toEqual([2n, 1]);

    const reference = { campaignId, earningRuleId: first!.id };
    const update = create(UpdateEarningRuleRequestSchema, {
      ...reference,
      loyalty: FIXED,
      metadata: { note: "x" },
      updateMask: { paths: ["loyalty", "pending_points", "metadata"] },
    });
    const updated = await earningRules.updateEarningRule(update, call);
    expect(updated).toMatchObject({ loyalty: FIXED, metadata: { note: "x" }, active: true });
    expect(updated.pendingPoints).toBeUndefined();
    const points = create(UpdateEarningRuleRequestSchema, {
      ...reference,
      loyalty: { points: 8n },
      updateMask: { paths: ["loyalty"] },
    });
    const raised = await earningRules.updateEarningRule(points, call);
    expect(raised).toMatchObject({ loyalty: { type: "FIXED", points: 8n } });
    await earningRules.updateEarningRule(update, call);
    expect((await earningRules.disableEarningRule(reference, call)).active).toBe(false);
    expect((await earningRules.enableEarningRule(reference, call)).active).toBe(true);
    expect(await earningRules.getEarningRule(reference, call)).toMatchObject({ loyalty: FIXED });

    await earningRules.deleteEarningRule(reference, call);
    const gone = /not found/i;
    await expect(earningRules.deleteEarningRule(reference, call)).rejects.toThrow(gone);
    await expect(earningRules.getEarningRule(reference, call)).rejects.toThrow(gone);
    const elsewhere = { campaignId: "camp_2", earningRuleId: second!.id };
    await expect(earningRules.enableEarningRule(elsewhere, call)).rejects.toThrow(gone);
  });

  test.each<[string, Rule, RegExp]>([
    [
      "a measure that is missing",
      { event: "order.paid", loyalty: { ...PER_EURO, order: {} } },
      /'amount'/,
    ],
    [
      "no calculation type",
      { event: "order.paid", loyalty: { type: "PROPORTIONAL" } },
      /calculation_type/,
    ],
    ["no fixed points", { event: "order.paid", loyalty: { type: "FIXED" } }, /loyalty.points/],
    [
      "a formula that cannot be read",
      { event: "order.paid", loyalty: { ...FIXED, pointsFormula: "1 +" } },
      /points_formula/,
    ],
    [
      "order measures of a custom event",
      { event: "viewed", loyalty: PER_EURO },
      /calculation_type/,
    ],
    ["items without targets", itemsRule({}), /applicable_to/],
    [
      "pending points of a custom event",
      { event: "viewed", loyalty: FIXED, pendingPoints: { periodType: "DAY", periodValue: 1n } },
      /pending_points/,
    ],
    [
      "a segment event without a segment",
      { event: "customer.segment.entered", loyalty: FIXED },
      /segment/,
    ],
    [
      "a tier event without a tier",
      { event: "customer.loyalty.tier.joined", loyalty: FIXED },
      /loyalty_tier/,
    ],
    [
      "expiration rules without a type",
      { event: "order.paid", loyalty: FIXED, expirationRules: {} },
      /expiration_rules/,
    ],
  ])("reject %s", async (_, rule, details) => {
    const { createRules } = setUp();
    const options = { details: expect.stringMatching(details) };
    await expect(createRules(rule)).rejects.toMatchObject({ key: "invalid_payload", options });
  });

  test("reject unknown segments, tiers, schemas and validation rules, and create nothing then", async () => {
    const { call, campaignId, createRules } = setUp();
    const unknown: readonly Rule[] = [
      { event: "customer.segment.entered", loyalty: FIXED, segment: { id: "seg_1" } },
      { event: "customer.loyalty.tier.left", loyalty: FIXED, loyaltyTier: { id: "ltr_1" } },
      { event: "viewed", loyalty: FIXED, customEvent: { schemaId: "ms_1" } },
      { event: "order.paid", loyalty: FIXED, validationRuleId: "val_1" },
    ];
    const known = { event: "order.paid", loyalty: FIXED };
    for (const rule of unknown)
      await expect(createRules(known, rule)).rejects.toThrow(/not found/i);
    expect((await earningRules.listEarningRules({ campaignId }, call)).total).toBe(0n);
  });

  test("protect the schema and the segment that they refer to", async () => {
    const { call, createRules } = setUp();
    const { id: schemaId } = await customEvents.createCustomEventSchema({ name: "viewed" }, call);
    const filter = { name: { conditions: { $is: ["Ada"] } } };
    const segment = await segments.createSegment({ name: "s", type: "passive", filter }, call);
    await createRules(
      { event: "viewed", loyalty: FIXED },
      { event: "customer.segment.entered", loyalty: FIXED, segment: { id: segment.id } },
    );
    const inUse = /in use/i;
    await expect(customEvents.deleteCustomEventSchema({ schemaId }, call)).rejects.toThrow(inUse);
    await expect(segments.deleteSegment({ segmentId: segment.id }, call)).rejects.toThrow(inUse);
  });

  test("protect a schema that was created after them", async () => {
    const { call, createRules } = setUp();
    await createRules({ event: "viewed", loyalty: FIXED });
    const { id: schemaId } = await customEvents.createCustomEventSchema({ name: "viewed" }, call);
    const deletion = customEvents.deleteCustomEventSchema({ schemaId }, call);
    await expect(deletion).rejects.toThrow(/in use/i);
  });

  test("are rejected when their schema or segment is deleted at the same time, or protect it", async () => {
    for (let round = 0; round < 10; round += 1) {
      const { call, createRules } = setUp();
      const { id: schemaId } = await customEvents.createCustomEventSchema({ name: "viewed" }, call);
      const filter = { name: { conditions: { $is: ["Ada"] } } };
      const { id } = await segments.createSegment({ name: "s", type: "passive", filter }, call);
      const viewed = { event: "viewed", loyalty: FIXED, customEvent: { schemaId } };
      const entered = { event: "customer.segment.entered", loyalty: FIXED, segment: { id } };
      const outcomes = await Promise.allSettled([
        createRules(viewed),
        customEvents.deleteCustomEventSchema({ schemaId }, call),
        createRules(entered),
        segments.deleteSegment({ segmentId: id }, call),
      ]);
      const statuses = outcomes.map(({ status }) => status);
      expect(statuses.slice(0, 2).toSorted()).toEqual(["fulfilled", "rejected"]);
      expect(statuses.slice(2).toSorted()).toEqual(["fulfilled", "rejected"]);
    }
  });

  test("protect nothing and do not count once their program is deleted", async () => {
    const { call, campaignId, createRules } = setUp();
    const projectId = call.project.id;
    const { id: schemaId } = await customEvents.createCustomEventSchema({ name: "viewed" }, call);
    const filter = { name: { conditions: { $is: ["Ada"] } } };
    const { id: segmentId } = await segments.createSegment(
      { name: "s", type: "passive", filter },
      call,
    );
    const rules = Array.from({ length: 97 }, (): Rule => ({ event: "order.paid", loyalty: FIXED }));
    await createRules(
      { event: "viewed", loyalty: FIXED },
      { event: "customer.segment.entered", loyalty: FIXED, segment: { id: segmentId } },
      {
        event: "order.paid",
        loyalty: FIXED,
        validationRuleId: "val_1",
        validationRule: conditions,
      },
      ...rules,
    );
    await storeProgram(loyalty.db, { projectId, id: campaignId, deleted: true });
    await customEvents.deleteCustomEventSchema({ schemaId }, call);
    await segments.deleteSegment({ segmentId }, call);
    const references = await earningRules.listReferences({ ids: ["val_1"] }, call);
    expect(references.total).toBe(0n);
    await storeProgram(loyalty.db, { projectId, id: "camp_2" });
    const created = await earningRules.createEarningRules({ campaignId: "camp_2", rules }, call);
    expect(created.rules).toHaveLength(97);
  });

  test("are at most a hundred in a project, also when they are created concurrently", async () => {
    const { call, campaignId, createRules } = setUp();
    const rules = Array.from({ length: 60 }, (): Rule => ({ event: "order.paid", loyalty: FIXED }));
    const outcomes = await Promise.allSettled([createRules(...rules), createRules(...rules)]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect((await earningRules.listEarningRules({ campaignId }, call)).total).toBe(60n);
  });
});
