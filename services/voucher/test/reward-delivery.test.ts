import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";

import { create, toBinary } from "@bufbuild/protobuf";
import { originOf } from "@scrip/events";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { VoucherPublishedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";
import {
  type AdjustPointsRequest,
  AdjustPointsResponseSchema,
  CardService,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import {
  CustomerService,
  type ResolveCustomersRequest,
  ResolveCustomersResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import {
  type CommitOutcome,
  CommitOutcomeSchema,
  RedemptionService,
  RollbackCommandSchema,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport, createServiceTransport } from "@scrip/rpc";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import type { Deps } from "../src/deps.ts";
import { deliverDueRewards } from "../src/jobs/deliver-rewards.ts";
import { attemptDelivery } from "../src/reward/deliver-reward.ts";
import { routes } from "../src/routes.ts";
import { markCampaignDeleted, updateCampaignSettings } from "../src/store/campaigns.ts";
import { findPublishedUnder } from "../src/store/publications.ts";
import { findRewardRedemptions } from "../src/store/reward-redemptions.ts";
import {
  committedRedemptions,
  createCommit,
  createDiscountVoucher,
  createLoyaltyCard,
  commandOf,
  keyOf,
  rewardCommandOf,
} from "./builders.ts";
import { checkInvariants, depsOf, NOON, startTestService, type TestService } from "./deps.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterEach(() => checkInvariants(service));
afterAll(() => service[Symbol.asyncDispose]());

/** A process of the service that finds its project, with these dependencies. */
function processWith(overrides: Partial<Deps> = {}) {
  const deps: Deps = {
    ...depsOf(service.db),
    findProject: () => ({ project: service.call().project, sandboxNow: NOON, deleted: false }),
    ...overrides,
  };
  const redemptions = clientOf(RedemptionService, createDirectTransport(routes(deps)));
  return { deps, redemptions, commit: createCommit(service, redemptions) };
}

let campaigns = 0;

/** A campaign that generates vouchers when they are published. */
async function createCampaign(campaignType: string, voucher: object): Promise<string> {
  campaigns += 1;
  const id = `camp_${campaigns}`;
  const client = clientOf(
    CampaignVoucherService,
    createDirectTransport(routes(depsOf(service.db))),
  );
  await client.createVouchers(
    {
      campaign: {
        id,
        name: `Campaign ${campaigns}`,
        campaignType,
        template: { voucher },
      },
    },
    service.call(),
  );
  return id;
}

const createCoupons = (): Promise<string> =>
  createCampaign("DISCOUNT_COUPONS", {
    type: VoucherType.DISCOUNT_VOUCHER,
    discount: { type: DiscountType.PERCENT, percentOff: "10" },
  });

const campaignReward = (id: string, more: object = {}) => ({
  type: "CAMPAIGN",
  parameters: { campaign: { id, ...more } },
});

type Reward = Parameters<typeof rewardCommandOf>[2];

const commandFor = async (reward: Reward, overrides: object = {}) =>
  rewardCommandOf(service, await createLoyaltyCard(service), reward, overrides);

const rewardOf = (outcome: CommitOutcome | undefined) => {
  const [redemption] = committedRedemptions(outcome);
  if (redemption === undefined) throw new Error("nothing was redeemed");
  return { projectId: service.projectId, redemptionId: redemption.id, shown: redemption.reward };
};

async function stored(key: { readonly projectId: string; readonly redemptionId: string }) {
  const [reward] = (await findRewardRedemptions(service.db, [key])).values();
  if (reward === undefined) throw new Error("the redemption owes nothing");
  return reward;
}

/** A reward that is owed: the process that commits its redemption does not find the project, so it cannot be given. */
async function owe(reward: Reward) {
  const [outcome] = await createCommit(service)(await commandFor(reward));
  return stored(rewardOf(outcome));
}

/** A reward that is owed, and whose campaign was deleted since. */
async function oweDeleted() {
  const campaignId = await createCoupons();
  const reward = await owe(campaignReward(campaignId));
  await markCampaignDeleted(service.db, { projectId: service.projectId, campaignId, at: NOON });
  return reward;
}

async function rollBack(redemptionId: string) {
  const command = create(RollbackCommandSchema, {
    projectId: service.projectId,
    redemptionId,
    now: { seconds: BigInt(NOON / 1_000), nanos: 0 },
    orderMode: "WITH_ORDER",
  });
  const { outcomes } = await service.redemptions.commitRollbacks(
    { commands: [command] },
    service.call(),
  );
  return outcomes.map(({ outcome }) => outcome.case);
}

/** Whether each voucher that was published for a redemption is active. */
async function publishedFor({ redemptionId }: { readonly redemptionId: string }) {
  const ids = await findPublishedUnder(service.db, service.projectId, redemptionId);
  const { rows } = await service.db.query<{ active: boolean | null }>(
    "select active from voucher where project_id = $1 and id = any($2::text[]) order by array_position($2, id)",
    [service.projectId, ids],
  );
  return { ids, active: rows.map(({ active }) => active) };
}

/** Resolves when `open` is called. */
function createGate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let arrive = (): void => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  return { open: () => open(), arrived, pass: () => (arrive(), opened) };
}

/** A loyalty service that responds to what resolves customers after the gate is opened. */
const customersBehind = ({ pass }: ReturnType<typeof createGate>) =>
  clientOf(
    CustomerService,
    createDirectTransport([
      {
        service: CustomerService,
        handlers: {
          resolveCustomers: async ({ queries }: ResolveCustomersRequest) => {
            await pass();
            return create(ResolveCustomersResponseSchema, {
              results: queries.map(({ customer }) => ({ customer: { id: customer?.id ?? "" } })),
            });
          },
        },
      },
    ]),
  );

/** A server that accepts calls and never responds. */
async function startSilentServer() {
  const server = createServer();
  // A client that leaves ends its streams with an error.
  server.on("stream", (stream) => stream.on("error", () => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const transport = createServiceTransport({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    audience: "loyalty",
    token: () => Promise.resolve("none"),
  });
  return {
    transport,
    [Symbol.dispose]() {
      transport[Symbol.dispose]();
      server.close();
    },
  };
}

describe("coupons", () => {
  test("stay active when several attempts give them at the same time", async () => {
    const reward = await owe(campaignReward(await createCoupons()));
    const { deps } = processWith();
    await Promise.all(Array.from({ length: 8 }, () => attemptDelivery(deps, reward)));
    // One that was leased before the others completed it.
    await attemptDelivery(deps, reward);
    expect(await publishedFor(reward)).toMatchObject({ active: [true, true] });
    expect(await stored(reward)).toMatchObject({ status: "COMPLETED" });
  });

  test("name the request that redeemed the reward", async () => {
    const caller = { side: "server", id: "app_1", name: "POS" };
    const command = await commandFor(campaignReward(await createCoupons()), { caller });
    const [outcome] = await createCommit(service)(command);
    const reward = await stored(rewardOf(outcome));
    await attemptDelivery(processWith().deps, reward);
    const { rows } = await service.db.query<{ headers: Record<string, string> }>(
      "select headers from outbox where headers->>'request-id' = $1 and type = $2",
      [command.requestId, VoucherPublishedSchema.typeName],
    );
    const origin = { requestId: command.requestId, caller };
    expect(rows.map(({ headers }) => originOf({ headers }))).toEqual([origin, origin]);
  });

  test("are disabled when the redemption was rolled back while they were published", async () => {
    const reward = await owe(campaignReward(await createCoupons()));
    expect(await rollBack(reward.redemptionId)).toEqual(["committed"]);
    await attemptDelivery(processWith().deps, reward);
    expect(await publishedFor(reward)).toMatchObject({ active: [false, false] });
  });

  test("are disabled although one of them was deleted, and then nothing is left to do", async () => {
    const reward = await owe(campaignReward(await createCoupons()));
    const { deps } = processWith();
    await attemptDelivery(deps, reward);
    const { ids } = await publishedFor(reward);
    await service.vouchers.deleteVoucher({ code: ids[0] ?? "" }, service.call());
    await rollBack(reward.redemptionId);
    await attemptDelivery(deps, await stored(reward));
    expect(await publishedFor(reward)).toMatchObject({ active: [true, false] });
    expect(await dueAgain(reward)).toBe(false);
  });
});

const dueAgain = async ({ redemptionId }: { readonly redemptionId: string }) => {
  const { rows } = await service.db.query<{ again: boolean }>(
    "select next_attempt_at is not null as again from reward_redemption where redemption_id = $1",
    [redemptionId],
  );
  return rows[0]?.again;
};

test("a redemption is rejected when the campaign of its reward is disabled or has no free code, unless it is repeated", async () => {
  const campaignId = await createCoupons();
  const { projectId, db } = service;
  const { commit } = processWith();
  const setActive = (active: boolean) =>
    updateCampaignSettings(db, projectId, { campaignId, active, referralTiers: undefined });
  const redeem = async () => commit(await commandFor(campaignReward(campaignId)));
  const rejected = { case: "rejected", value: { key: "no_voucher_suitable_for_publication" } };
  const idempotency = keyOf("rejected-reward");
  const command = await commandFor(campaignReward(campaignId), { idempotency });
  const [first] = await commit(command);
  expect(first?.outcome.case).toBe("committed");
  await setActive(false);
  expect((await redeem())[0]?.outcome).toMatchObject(rejected);
  expect((await commit(command))[0]?.replayed).toBe(true);
  await setActive(true);
  await db.query("update voucher_campaign set template = null where campaign_id = $1", [
    campaignId,
  ]);
  expect((await redeem())[0]?.outcome).toMatchObject(rejected);
});

describe("after 30 days of real time", () => {
  const age = (column: string, redemptionId: string) =>
    service.db.query(
      `update reward_redemption set ${column} = now() - interval '31 days' where redemption_id = $1`,
      [redemptionId],
    );

  test("a reward that cannot be given has failed", async () => {
    const reward = await oweDeleted();
    await age("recorded_at", reward.redemptionId);
    await attemptDelivery(processWith().deps, reward);
    expect(await stored(reward)).toMatchObject({ status: "FAILED" });
    expect(await dueAgain(reward)).toBe(false);
  });

  test("but not after 30 days of a sandbox clock", async () => {
    const reward = await oweDeleted();
    await age("created_at", reward.redemptionId);
    await attemptDelivery(processWith().deps, reward);
    expect(await stored(reward)).toMatchObject({ status: "PENDING" });
    expect(await dueAgain(reward)).toBe(true);
  });

  test("coupons of a reward that was rolled back are still disabled", async () => {
    const reward = await owe(campaignReward(await createCoupons()));
    const { deps } = processWith();
    await attemptDelivery(deps, reward);
    await rollBack(reward.redemptionId);
    await age("recorded_at", reward.redemptionId);
    const rolledBack = await stored(reward);
    await attemptDelivery(
      processWith({ findProject: () => Promise.reject(new Error("down")) }).deps,
      rolledBack,
    );
    expect(await dueAgain(reward)).toBe(true);
    await attemptDelivery(deps, rolledBack);
    expect(await publishedFor(reward)).toMatchObject({ active: [false, false] });
  });
});

describe("the response to a redemption", () => {
  test("shows the voucher that was given", async () => {
    const campaignId = await createCoupons();
    const [outcome] = await processWith().commit(await commandFor(campaignReward(campaignId)));
    expect(rewardOf(outcome).shown).toMatchObject({ status: "COMPLETED", voucher: { campaignId } });
  });

  test("does not wait long for a service that is silent, and other redemptions of the batch succeed", async () => {
    using silent = await startSilentServer();
    const process = processWith({ customers: clientOf(CustomerService, silent.transport) });
    const reward = campaignReward(await createCoupons());
    const given = await Promise.all(Array.from({ length: 3 }, () => commandFor(reward)));
    const voucher = await createDiscountVoucher(service);
    const startedAt = performance.now();
    const outcomes = await process.commit(...given, commandOf(service, [{ voucher }]));
    // Three attempts with the deadline of a request would take 24 seconds.
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    expect(outcomes.map((outcome) => committedRedemptions(outcome)[0]?.reward?.status)).toEqual([
      "PENDING",
      "PENDING",
      "PENDING",
      undefined,
    ]);
  });

  test("is that of all replays, also of those while the reward is being given", async () => {
    const gate = createGate();
    const slow = processWith({ customers: customersBehind(gate) });
    const { commit } = processWith();
    const command = await commandFor(campaignReward(await createCoupons()), {
      idempotency: keyOf("replayed"),
    });
    const first = slow.commit(command);
    await gate.arrived;
    const [early] = await commit(command);
    gate.open();
    const [made] = await first;
    await expect
      .poll(async () => (await stored(rewardOf(made))).status, { timeout: 10_000 })
      .toBe("COMPLETED");
    const [late] = await commit(command);
    expect(early?.replayed && late?.replayed).toBe(true);
    const bytes = [made, early, late].map(
      (outcome) => outcome && toBinary(CommitOutcomeSchema, { ...outcome, replayed: false }),
    );
    expect(bytes[1]).toEqual(bytes[0]);
    expect(bytes[2]).toEqual(bytes[0]);
  });
});

test("points are added once, and a rollback does not wait for the call that adds them", async () => {
  const gate = createGate();
  const operations: string[] = [];
  const cards = clientOf(
    CardService,
    createDirectTransport([
      {
        service: CardService,
        handlers: {
          adjustPoints: async ({ operationId }: AdjustPointsRequest) => {
            operations.push(operationId);
            await gate.pass();
            return create(AdjustPointsResponseSchema, { outcome: { case: "moved", value: {} } });
          },
        },
      },
    ]),
  );
  const program = await createCampaign("LOYALTY_PROGRAM", {
    type: VoucherType.LOYALTY_CARD,
    loyaltyCard: { points: 5n },
  });
  const reward = await owe(campaignReward(program, { balance: 7n }));
  const { deps } = processWith({ cards });
  const attempt = attemptDelivery(deps, reward);
  await gate.arrived;
  expect(await rollBack(reward.redemptionId)).toEqual(["committed"]);
  gate.open();
  await attempt;
  expect(await stored(reward)).toMatchObject({ status: "ROLLED_BACK" });
  expect(operations).toEqual([`reward:${reward.redemptionId}`]);
});

test("a batch of due rewards is attempted concurrently, so that their leases hold", async () => {
  const gate = createGate();
  let waiting = 0;
  const findProject: Deps["findProject"] = async () => {
    waiting += 1;
    if (waiting === 3) gate.open();
    await gate.pass();
    return { project: service.call().project, sandboxNow: NOON, deleted: false };
  };
  const reward = campaignReward(await createCoupons());
  const rewards = [await owe(reward), await owe(reward), await owe(reward)];
  await service.db.query(
    "update reward_redemption set next_attempt_at = case when redemption_id = any($1::text[]) then now() end",
    [rewards.map(({ redemptionId }) => redemptionId)],
  );
  expect(await deliverDueRewards(processWith({ findProject }).deps)).toBe(3);
  const statuses = await Promise.all(rewards.map(async (one) => (await stored(one)).status));
  expect(statuses).toEqual(["COMPLETED", "COMPLETED", "COMPLETED"]);
});
