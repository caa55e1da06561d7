import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { newId, newRequestId } from "@scrip/ids";
import { createDefinitionVersions } from "@scrip/postgres";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { CustomerResultSchema } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { RedeemVoucherRequestSchema } from "@scrip/proto/scrip/validation/v1/validations_pb";
import {
  CommitOutcomeSchema,
  type RedemptionCommand,
  VoucherResultSchema,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import {
  type Voucher,
  VoucherSchema,
  VoucherType,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";
import { testDatabase } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import { redeemVoucher } from "../src/handlers/redeem-voucher.ts";
import { createCollectionCaches } from "../src/loading/collections.ts";
import { createStackingRulesCache } from "../src/loading/stacking-rules.ts";
import { createRuleCaches } from "../src/loading/validation-rules.ts";
import { createOrderQueue } from "../src/order/order-queue.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { findOneInCatalogue } from "../src/store/catalogue-lookup.ts";
import { awaitOrder } from "../src/store/order-claims.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());

type Outcome = NonNullable<MessageInitShape<typeof CommitOutcomeSchema>["outcome"]>;

const STALE: Outcome = { case: "stale", value: {} };
const LOCKED: Outcome = {
  case: "rejected",
  value: { code: 503, key: "service_unavailable", message: "held" },
};
const COMMITTED: Outcome = { case: "committed", value: { redemptions: [{ id: "r_1" }] } };

const never = async () => {
  throw new Error("this call is not expected");
};
const UNUSED_CLIENTS = {
  resolveRewardAssignment: never,
  listSegments: never,
  listVouchers: never,
  estimateEarnings: never,
  listReferences: never,
  listEarningRuleAssignments: never,
  loadCards: never,
  holdPoints: never,
  reservePoints: never,
  releasePoints: never,
  releasePointsHold: never,
  listCandidates: never,
  countRedemptions: never,
  reserveVouchers: never,
  commitRollback: never,
  getRedemption: never,
  resolveCampaigns: never,
  listCampaigns: never,
  resolveCategory: never,
};

/** The handler with a voucher service whose commits return these outcomes in turn, then the last one. */
const createService = (...outcomes: Outcome[]) => createVoucherWithOutcomes({}, ...outcomes);

function createVoucherWithOutcomes(
  fields: Partial<Pick<Voucher, "isReferralCode" | "holderId">> & {
    readonly saveOrder?: () => Promise<void>;
  },
  ...outcomes: Outcome[]
) {
  const { saveOrder = async () => {}, ...voucherFields } = fields;
  const errors: Error[] = [];
  const commands: RedemptionCommand[] = [];
  let version = 0n;
  let customersWritten = 0;
  const definitions = createDefinitionVersions({ db });
  const redeem = redeemVoucher({
    db,
    newId,
    definitions,
    stackingRules: createStackingRulesCache(db, definitions),
    ruleCaches: createRuleCaches(db, definitions),
    ...createCollectionCaches(db, definitions),
    findInCatalogue: (names) => findOneInCatalogue(db, names),
    saveOrder,
    processId: 1,
    orderQueue: createOrderQueue({ maxWaiting: 10, maxWaitMs: 1_000 }),
    awaitOrder: (wait) => awaitOrder(db, wait),
    countRedemption: (call, run) => run(call),
    countValidations: () => {},
    onEvents: () => {},
    onError: (error) => errors.push(error),
    trackingSecret: "secret",
    clients: {
      loadVouchers: async () => {
        version += 1n;
        const discount = { type: DiscountType.PERCENT, percentOff: "10" };
        const type = VoucherType.DISCOUNT_VOUCHER;
        const voucher = create(VoucherSchema, {
          id: "v_1",
          code: "CODE",
          type,
          discount,
          ...voucherFields,
        });
        return create(VoucherResultSchema, { vouchers: [{ voucher, definitionVersion: version }] });
      },
      commitRedemption: async (command) => {
        commands.push(command);
        const outcome = outcomes.length > 1 ? outcomes.shift() : outcomes[0];
        return create(CommitOutcomeSchema, outcome === undefined ? {} : { outcome });
      },
      resolveCustomer: async () => create(CustomerResultSchema, { customer: { id: "cust_1" } }),
      upsertCustomer: async () => {
        customersWritten += 1;
        return create(CustomerResultSchema, { customer: { id: "cust_1" } });
      },
      ...UNUSED_CLIENTS,
    },
  });
  const request = create(RedeemVoucherRequestSchema, {
    code: "CODE",
    customer: { sourceId: "ann", name: "Ann" },
    order: { amount: 1000n },
  });
  return {
    redeem: (deadlineMs: number) => redeem(request, callOf(deadlineMs)),
    commands,
    errors,
    versions: () => commands.map(({ parts }) => parts[0]?.definitionVersion),
    customersWritten: () => customersWritten,
  };
}

const callOf = (deadlineMs: number): Call => ({
  project: { id: "proj_1", timeZone: "UTC", caseSensitiveCodes: true },
  requestId: newRequestId(),
  deadline: Date.now() + deadlineMs,
  now: Date.now(),
  caller: { side: "server", id: "app_1" },
});

const LONG = 60_000;

describe("a redemption of a voucher that is edited concurrently", () => {
  test("is decided again on each new definition until it is committed", async () => {
    const service = createService(STALE, STALE, STALE, STALE, STALE, COMMITTED);
    expect(await service.redeem(LONG)).toMatchObject({ id: "r_1" });
    expect(service.versions()).toEqual([1n, 2n, 3n, 4n, 5n, 6n]);
    expect(service.customersWritten()).toBe(1);
  });

  test("is rejected with service_unavailable when the deadline leaves no time for another decision", async () => {
    const service = createService(STALE);
    await expect(service.redeem(600)).rejects.toMatchObject({
      key: "service_unavailable",
      options: { details: "Redeemables are being changed concurrently (CODE); try again" },
    });
  });
});

describe("a redemption of a locked voucher", () => {
  test("is committed again without a new decision", async () => {
    const service = createService(LOCKED, LOCKED, COMMITTED);
    expect(await service.redeem(LONG)).toMatchObject({ id: "r_1" });
    expect(service.versions()).toEqual([1n, 1n, 1n]);
  });

  test("is rejected when the voucher stays locked", async () => {
    const service = createService(LOCKED);
    await expect(service.redeem(LONG)).rejects.toThrow("held");
    expect(service.versions()).toHaveLength(5);
  });

  test("is decided again when the voucher was changed while locked", async () => {
    const service = createService(LOCKED, STALE, COMMITTED);
    expect(await service.redeem(LONG)).toMatchObject({ id: "r_1" });
    expect(service.versions()).toEqual([1n, 1n, 2n]);
  });
});

describe("a committed redemption is returned although its order", () => {
  const order = { id: "ord_1", amount: 1000n, redemptions: {} };
  const committed: Outcome = { case: "committed", value: { redemptions: [{ id: "r_1", order }] } };

  test.each([
    ["cannot be stored", () => Promise.reject(new Error("the disk is full")), "failed"],
    ["is not stored in time", () => new Promise<void>(() => {}), "takes longer than 2000 ms"],
  ])("%s", async (_, saveOrder, said) => {
    const service = createVoucherWithOutcomes({ saveOrder }, committed);
    expect(await service.redeem(LONG)).toMatchObject({ id: "r_1", order: { id: "ord_1" } });
    expect(service.errors.map(({ message }) => message)).toEqual([
      `storing the order of a redemption ${said}`,
    ]);
  });
});

test("retries storing an order while the database is unavailable", async () => {
  const order = { id: "ord_1", amount: 1000n, redemptions: {} };
  let attempts = 0;
  const saveOrder = async () => {
    attempts += 1;
    if (attempts < 3) throw Object.assign(new Error("nobody there"), { code: "ECONNREFUSED" });
  };
  const committed: Outcome = { case: "committed", value: { redemptions: [{ id: "r_1", order }] } };
  const service = createVoucherWithOutcomes({ saveOrder }, committed);
  expect(await service.redeem(LONG)).toMatchObject({ id: "r_1" });
  expect([attempts, service.errors]).toEqual([3, []]);
});

test("stores the holder of the referral code as the referrer of the order", async () => {
  const referral = { isReferralCode: true, holderId: "cust_2" };
  const service = createVoucherWithOutcomes(referral, COMMITTED);
  await service.redeem(LONG);
  expect(service.commands[0]?.order).toMatchObject({
    customerId: "cust_1",
    referrerId: "cust_2",
    referrer: { id: "cust_2", object: "customer" },
  });
});
