import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import {
  CardService,
  type ListLedgerEntriesRequest,
  ListLedgerEntriesResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { TransactionService } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import {
  type CreateVoucherRequestSchema,
  VoucherType,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { asAdmin, entriesRead } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import { routes } from "../src/routes.ts";
import { SCHEMA } from "../src/service.ts";
import { giftEntryId, listGiftEntries } from "../src/store/gift-ledger.ts";
import {
  commandOf,
  committedRedemptions,
  createCommit,
  createDiscountVoucher,
  createGiftVoucher,
} from "./builders.ts";
import { depsOf, NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());

const at = (instant: number) => ({ seconds: BigInt(instant / 1000), nanos: 0 });

const ENTRIES = ["vtx_3", "vtx_2", "vtx_1"].map((id, index) => ({
  id,
  type: "POINTS_ADDITION",
  points: 5n,
  balance: 15n - 5n * BigInt(index),
  source: id === "vtx_2" ? "Automation" : "API",
}));

/** A loyalty service whose card has these ledger entries. */
const cards = clientOf(
  CardService,
  createDirectTransport([
    {
      service: CardService,
      handlers: {
        listLedgerEntries: ({ limit, afterId }: ListLedgerEntriesRequest) => {
          const start = ENTRIES.findIndex(({ id }) => id === afterId) + 1;
          const entries = ENTRIES.slice(start, start + Number(limit));
          return Promise.resolve(
            create(ListLedgerEntriesResponseSchema, { entries, total: BigInt(ENTRIES.length) }),
          );
        },
      },
    },
  ]),
);
const transport = createDirectTransport(routes({ ...depsOf(service.db), cards }));
const transactions = clientOf(TransactionService, transport);
const campaignVouchers = clientOf(CampaignVoucherService, transport);

/** Creates vouchers in a campaign, and returns their ids in this order. */
async function createInCampaign(
  id: string,
  vouchers: readonly MessageInitShape<typeof CreateVoucherRequestSchema>[],
): Promise<readonly string[]> {
  const campaign = { id, name: id, campaignType: "ANY" };
  const items = vouchers.map((voucher) => ({ voucher }));
  const { outcomes } = await campaignVouchers.createVouchers({ campaign, items }, service.call());
  return outcomes.map(({ outcome }) => {
    if (outcome.case !== "voucher") throw new Error(`rejected: ${outcome.value?.details}`);
    return outcome.value.id;
  });
}

const gift = (amount: bigint) => ({ type: VoucherType.GIFT_VOUCHER, gift: { amount } });

const card = await service.vouchers.createVoucher(
  { code: "CARD-1", type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 15n } },
  service.call(),
);

describe("ListCardTransactions", () => {
  test("lists the ledger of a card page by page", async () => {
    const page = await transactions.listCardTransactions(
      { code: card.code, limit: 2n },
      service.call(),
    );
    const rest = await transactions.listCardTransactions(
      { code: card.code, limit: 2n, startingAfterId: page.moreStartingAfter },
      service.call(),
    );

    expect(page).toMatchObject({ hasMore: true, moreStartingAfter: "vtx_2" });
    expect(page.data.map(({ id, voucherId }) => [id, voucherId])).toEqual([
      ["vtx_3", card.id],
      ["vtx_2", card.id],
    ]);
    expect(rest.data.map(({ id }) => id)).toEqual(["vtx_1"]);
    expect(rest.hasMore).toBe(false);
    expect(
      [...page.data, ...rest.data].map(({ details }) => details?.balance?.operationType),
    ).toEqual(["MANUAL", "AUTOMATIC", "MANUAL"]);
  });

  test("lists nothing of a discount voucher", async () => {
    const { code } = await createDiscountVoucher(service);

    expect(await transactions.listCardTransactions({ code }, service.call())).toMatchObject({
      data: [],
      hasMore: false,
    });
  });

  test("lists the ledger of a gift voucher page by page, and filters it", async () => {
    const voucher = await createGiftVoucher(service, 100n);
    const [outcome] = await createCommit(service)(commandOf(service, [{ voucher, credits: 30n }]));
    const [redemption] = committedRedemptions(outcome);
    const redemptionId = redemption?.id ?? "";
    const { outcomes } = await service.redemptions.commitRollbacks(
      { commands: [{ projectId: service.projectId, redemptionId, now: at(NOON + 1000) }] },
      service.call(),
    );
    expect(outcomes[0]?.outcome.case).toBe("committed");
    const { code } = voucher;
    const list = (request: Partial<Parameters<typeof transactions.listCardTransactions>[0]>) =>
      transactions.listCardTransactions({ code, ...request }, service.call());

    const all = await list({});
    expect(all.data.map(({ type, details }) => [type, details?.balance])).toMatchObject([
      [
        "CREDITS_REFUND",
        { type: "gift_voucher", amount: 30n, balance: 100n, total: 100n, operationType: "MANUAL" },
      ],
      ["CREDITS_REDEMPTION", { amount: -30n, balance: 70n, operationType: "MANUAL" }],
      ["CREDITS_ADDITION", { amount: 100n, balance: 100n, operationType: "MANUAL" }],
    ]);
    const [refund, spent, added] = all.data;
    expect(refund?.details).toMatchObject({
      redemption: { id: redemptionId },
      rollback: { id: expect.stringMatching(/^rr_/) },
    });
    expect(spent?.details).toMatchObject({ redemption: { id: redemptionId } });
    expect(spent?.details?.rollback).toBeUndefined();
    const page = await list({ limit: 2n });
    expect(page).toMatchObject({ hasMore: true, moreStartingAfter: spent?.id });
    const rest = await list({ limit: 2n, startingAfterId: page.moreStartingAfter });
    expect(rest).toMatchObject({ data: [{ id: added?.id }], hasMore: false });
    const byId = await list({ filters: { id: { conditions: { $is: [added?.id ?? ""] } } } });
    expect(byId.data).toMatchObject([{ id: added?.id }]);
    expect((await list({ createdAt: { after: at(NOON) } })).data).toMatchObject([
      { id: refund?.id },
    ]);
    await expect(list({ filters: { nope: { conditions: { $is: [1] } } } })).rejects.toMatchObject({
      key: "invalid_query_params",
    });
  });
});

test("ResolveTransactionDetails returns the order and the origin of each transaction", async () => {
  const voucher = await createGiftVoucher(service, 100n);
  const channel = { channelId: "AUTO_REDEEM", channelType: "AUTO_REDEEM" };
  const order = create(OrderSchema, { id: "ord_1", sourceId: "cart-1" });
  const command = commandOf(service, [{ voucher, credits: 30n }], { channel, order });
  const [outcome] = await createCommit(service)(command);
  const { projectId } = service;
  const redemptionId = committedRedemptions(outcome)[0]?.id ?? "";
  const redeemed = { projectId, redemptionId };
  const { results } = await transactions.resolveTransactionDetails(
    {
      transactions: [
        redeemed,
        { ...redeemed, rollbackId: "rr_1" },
        { projectId, redemptionId: "r_unknown" },
        { projectId, source: "Automation" },
      ],
    },
    service.call(),
  );
  const ofOrder = { order: { id: "ord_1", sourceId: "cart-1" } };
  expect(results).toMatchObject([
    { operationType: "AUTOMATIC", ...ofOrder },
    { operationType: "MANUAL", ...ofOrder },
    { operationType: "MANUAL" },
    { operationType: "AUTOMATIC" },
  ]);
});

describe("ListCampaignTransactions", () => {
  const ofCampaign = (request: Parameters<typeof transactions.listCampaignTransactions>[0]) =>
    transactions.listCampaignTransactions(request, service.call());

  test("lists the ledgers of all gift vouchers of a campaign by time, page by page", async () => {
    const ids = await createInCampaign("camp_gifts", [gift(100n), gift(200n), gift(300n)]);
    await createInCampaign("camp_others", [gift(400n)]);
    const [code = "", other = ""] = ids;
    const adjust = (request: { code: string; amount: bigint }, now: number) =>
      transactions.adjustBalance(request, { ...service.call(), now });
    await adjust({ code, amount: -50n }, NOON + 1_000);
    await adjust({ code: other, amount: 5n }, NOON + 2_000);
    await adjust({ code, amount: -1n }, NOON + 3_000);

    for (const order of ["id", "-id"]) {
      const pages: [string, bigint | undefined][] = [];
      let startingAfterId: string | undefined;
      do {
        const page = await ofCampaign({
          campaignId: "camp_gifts",
          limit: 1n,
          order,
          startingAfterId,
        });
        pages.push(
          ...page.data.map(({ voucherId, details }): [string, bigint | undefined] => [
            voucherId,
            details?.balance?.amount,
          ]),
        );
        startingAfterId = page.moreStartingAfter;
      } while (startingAfterId !== undefined);
      const expected = [
        [ids[0], 100n],
        [ids[1], 200n],
        [ids[2], 300n],
        [ids[0], -50n],
        [ids[1], 5n],
        [ids[0], -1n],
      ];
      expect(pages).toEqual(order === "id" ? expected : expected.toReversed());
    }
    const filters = { voucher_id: { conditions: { $in: [ids[1] ?? ""] } } };
    const ofOne = await ofCampaign({ campaignId: "camp_gifts", filters });
    expect(ofOne).toMatchObject({ hasMore: false, data: [{ campaignId: "camp_gifts" }, {}] });
    const newest = (await ofCampaign({ campaignId: "camp_gifts", limit: 100n })).data;
    const all = newest.map(({ id }) => id);
    expect(all).toEqual(all.toSorted().toReversed());
    // A cursor is a position: an id of no transaction works, too.
    const shortened = all[2]?.slice(0, 20) ?? "";
    const older = await ofCampaign({ campaignId: "camp_gifts", startingAfterId: shortened });
    expect(older.data.map(({ id }) => id)).toEqual(all.slice(3));
    const behindAll = await ofCampaign({ campaignId: "camp_gifts", startingAfterId: "vtx_" });
    expect(behindAll.data).toEqual([]);
  });

  test("lists entries from before 1970, which a sandbox clock can show, page by page", async () => {
    const [code = ""] = await createInCampaign("camp_past", [gift(100n)]);
    for (const now of [-1, -300_000_000_000, -20_000_000_000_000]) {
      await transactions.adjustBalance({ code, amount: 1n }, { ...service.call(), now });
    }
    const times: bigint[] = [];
    let startingAfterId: string | undefined;
    do {
      const page = await ofCampaign({
        campaignId: "camp_past",
        limit: 1n,
        order: "id",
        ...(startingAfterId !== undefined && { startingAfterId }),
      });
      times.push(...page.data.map(({ createdAt }) => createdAt?.seconds ?? 0n));
      startingAfterId = page.moreStartingAfter;
    } while (startingAfterId !== undefined);
    expect(times.slice(0, 3)).toEqual([-20_000_000_000n, -300_000_000n, -1n]);
    expect(times).toHaveLength(4);
  });

  test("lists entries that a process of the previous release wrote", async () => {
    const { projectId, db } = service;
    const [id = ""] = await createInCampaign("camp_upgrade", [gift(100n)]);
    // It creates a voucher and its first entry in one statement, and names no campaign.
    await db.query(
      `with created as (
         insert into voucher
         select (jsonb_populate_record(v, '{"id": "v_old", "code_key": "OLD", "asset_id": "old"}')).*
           from voucher v where project_id = $1 and id = $2
         returning project_id, id
       )
       insert into voucher_ledger_entry (project_id, voucher_id, version, amount, balance_after, created_at)
       select project_id, id, 1, 200, 200, now() from created`,
      [projectId, id],
    );
    await db.query(
      `insert into voucher_ledger_entry (project_id, voucher_id, version, amount, balance_after, created_at)
       values ($1, $2, 2, -30, 70, now() + interval '1 second')`,
      [projectId, id],
    );
    const { data } = await ofCampaign({ campaignId: "camp_upgrade", order: "id", limit: 10n });
    expect(data.map(({ details }) => details?.balance?.amount)).toEqual([100n, 200n, -30n]);
  });

  test("reads a page of a large campaign by an index", async () => {
    const { projectId, db } = service;
    const limit = 10;
    await db.query(
      `insert into voucher_ledger_entry (project_id, voucher_id, campaign_id, version, amount,
              balance_after, created_at)
       select $1, 'v_' || lpad(n::text, 18, '0'), 'camp_large', 1, 1, 1,
              to_timestamp((n * 7919) % 20000)
         from generate_series(1, 20000) n`,
      [projectId],
    );
    await asAdmin(db.url, (client) => client.query(`analyze ${SCHEMA}.voucher_ledger_entry`));
    const listing = {
      projectId,
      of: "campaign" as const,
      conditions: ["true"],
      values: [projectId, "camp_large"],
      limit,
    };
    const middle = giftEntryId({ at: 10_000_000, voucherId: `v_${"0".repeat(18)}`, version: 1n });
    const before = await entriesRead(db, "voucher_ledger_entry");
    for (const descending of [true, false]) {
      for (const after of [null, middle]) {
        const entries = await listGiftEntries(db, { ...listing, descending, after });
        expect(entries).toHaveLength(limit);
        expect(Math.abs(Number(entries[0]?.createdAt) - 10_000_000) <= 1_000).toBe(after !== null);
      }
    }
    expect((await entriesRead(db, "voucher_ledger_entry")) - before).toBeLessThanOrEqual(5 * limit);
  });

  test("lists the ledger of a loyalty program, and nothing of other campaigns", async () => {
    await createInCampaign("camp_club", [
      { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 15n } },
    ]);
    await createInCampaign("camp_coupons", [
      {
        type: VoucherType.DISCOUNT_VOUCHER,
        discount: { type: DiscountType.PERCENT, percentOff: "10" },
      },
    ]);

    expect((await ofCampaign({ campaignId: "camp_club" })).data).toHaveLength(ENTRIES.length);
    for (const campaignId of ["camp_coupons", "camp_empty"]) {
      expect(await ofCampaign({ campaignId })).toMatchObject({ data: [], hasMore: false });
      await expect(
        ofCampaign({ campaignId, filters: { nope: { conditions: { $is: [1] } } } }),
      ).rejects.toMatchObject({ key: "invalid_query_params" });
    }
  });
});

describe("ListMemberTransactions", () => {
  test("rejects a voucher that is not a loyalty card", async () => {
    const { code } = await createDiscountVoucher(service);

    await expect(
      transactions.listMemberTransactions({ memberId: code }, service.call()),
    ).rejects.toMatchObject({ key: "invalid_voucher" });
  });

  test("returns not_found for a card of another campaign", async () => {
    await expect(
      transactions.listMemberTransactions(
        { campaignId: "camp_other", memberId: card.code },
        service.call(),
      ),
    ).rejects.toMatchObject({ key: "not_found" });
  });
});
