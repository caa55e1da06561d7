import { randomBytes } from "node:crypto";

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { newId, newRequestId } from "@scrip/ids";
import { ApplicableToSchema } from "@scrip/proto/scrip/common/v1/applicable_to_pb";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  type CommitOutcome,
  CountMeasure,
  type CountSchema,
  RedeemedPointsSchema,
  RedemptionCommandSchema,
  type Redemption,
  type RedemptionPartSchema,
  type RedemptionService,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import {
  type CreateVoucherRequestSchema,
  type Voucher,
  VoucherType,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Client } from "@scrip/rpc";

import { NOON, type TestService } from "./deps.ts";

type Body = Partial<Omit<CreateVoucherRequestInit, "$typeName">>;

type CreateVoucherRequestInit = Exclude<
  MessageInitShape<typeof CreateVoucherRequestSchema>,
  { $typeName: string }
>;

export const createDiscountVoucher = (service: TestService, body: Body = {}): Promise<Voucher> =>
  service.vouchers.createVoucher(
    {
      code: `CODE-${randomBytes(6).toString("hex")}`,
      type: VoucherType.DISCOUNT_VOUCHER,
      discount: { type: DiscountType.PERCENT, percentOff: "10" },
      ...body,
    },
    service.call(),
  );

export const createGiftVoucher = (
  service: TestService,
  amount: bigint,
  body: Body = {},
): Promise<Voucher> =>
  service.vouchers.createVoucher(
    {
      code: `GIFT-${randomBytes(6).toString("hex")}`,
      type: VoucherType.GIFT_VOUCHER,
      gift: { amount },
      ...body,
    },
    service.call(),
  );

export type CommandInit = Omit<MessageInitShape<typeof RedemptionCommandSchema>, "$typeName">;

/** A command that redeems these vouchers with the definition they were created with. */
export function commandOf(
  service: Pick<TestService, "projectId">,
  takes: readonly { readonly voucher: Voucher; readonly credits?: bigint }[],
  overrides: CommandInit = {},
) {
  return create(RedemptionCommandSchema, {
    projectId: service.projectId,
    requestId: newRequestId(),
    now: { seconds: BigInt(NOON / 1000), nanos: 0 },
    channel: { channelId: "app_1", channelType: "API" },
    parts: takes.map(({ voucher, credits = 0n }) => ({
      redeemable: { case: "voucherId" as const, value: voucher.id },
      definitionVersion: 1n,
      credits,
    })),
    ...overrides,
  });
}

/** A command that redeems a reward for ten points of a card with a hundred. */
export const rewardCommandOf = (
  service: Pick<TestService, "projectId">,
  card: Voucher,
  reward: object,
  overrides: CommandInit = {},
) =>
  commandOf(service, [], {
    customerId: "cust_1",
    parts: [
      {
        ...voucherPart(card),
        points: create(RedeemedPointsSchema, {
          holdId: newId("ps"),
          points: 10n,
          cardPoints: 100n,
          balance: 90n,
          redeemedPoints: 10n,
          reward: { id: "rew_1", assignmentId: "rewa_1", quantity: 2n, ...reward },
        }),
      },
    ],
    ...overrides,
  });

export const createLoyaltyCard = (service: TestService): Promise<Voucher> =>
  service.vouchers.createVoucher(
    { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 100n } },
    service.call(),
  );

export const keyOf = (key: string, hash = "hash") => ({
  key,
  requestHash: new TextEncoder().encode(hash),
});

export type Commit = (...commands: ReturnType<typeof commandOf>[]) => Promise<CommitOutcome[]>;

/** Commits one batch. */
export const createCommit =
  (service: TestService, client: Client<typeof RedemptionService> = service.redemptions): Commit =>
  async (...commands) =>
    (await client.commitRedemptions({ commands }, service.call())).outcomes;

/** The redemptions of an outcome that took something. */
export function committedRedemptions(outcome: CommitOutcome | undefined) {
  if (outcome?.outcome.case !== "committed") {
    throw new Error(
      `not committed but ${outcome?.outcome.case}: ${JSON.stringify(outcome?.outcome.value, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value))}`,
    );
  }
  return outcome.outcome.value.redemptions;
}

export function rejectionOf(outcome: CommitOutcome | undefined) {
  if (outcome?.outcome.case !== "rejected")
    throw new Error(`not rejected but ${outcome?.outcome.case}`);
  return outcome.outcome.value;
}

/** A promotion tier as redemptions carry it. */
export const tierOf = (id: string, campaignId = "camp_tiers") => ({
  redeemable: {
    case: "promotionTier" as const,
    value: {
      id,
      name: `Tier ${id}`,
      hierarchy: 1n,
      action: { discount: { type: DiscountType.PERCENT, percentOff: "10" } },
      campaign: { id: campaignId, name: "Tiers", active: true },
    },
  },
  campaignId,
});

type PartInit = MessageInitShape<typeof RedemptionPartSchema>;

export const voucherPart = (voucher: Voucher, overrides: PartInit = {}) => ({
  redeemable: { case: "voucherId" as const, value: voucher.id },
  definitionVersion: 1n,
  ...overrides,
});

/** A stack: several parts in one command. */
export const stackOf = (
  service: Pick<TestService, "projectId">,
  parts: readonly PartInit[],
  overrides: CommandInit = {},
) => commandOf(service, [], { parts: [...parts], ...overrides });

/** At most `limit` redemptions of a scope, by one customer when named. */
export const limitOf = (
  scope: NonNullable<MessageInitShape<typeof CountSchema>["scope"]>,
  limit: number,
  about: { readonly customerId?: string; readonly rejection?: string } = {},
) => ({
  count: {
    scope,
    measure: CountMeasure.REDEMPTIONS,
    ...(about.customerId !== undefined && { customerId: about.customerId }),
  },
  add: 1n,
  conditions: { $less_than_or_equal: [limit] },
  ...(about.rejection !== undefined && {
    rejection: { code: 400, key: about.rejection, message: "too often" },
  }),
});

/** A committed redemption as it is read: a commit does not list what an unlimited one applies to. */
export function asRead(committed: Redemption | undefined): Redemption | undefined {
  if (committed?.voucher === undefined) return committed;
  const nothing = create(ApplicableToSchema);
  const { applicableTo = nothing, inapplicableTo = nothing } = committed.voucher;
  return { ...committed, voucher: { ...committed.voucher, applicableTo, inapplicableTo } };
}
