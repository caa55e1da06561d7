import { create } from "@bufbuild/protobuf";
import {
  CardService,
  type ListLedgerEntriesRequest,
  ListLedgerEntriesResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { TransactionService } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { routes } from "../src/routes.ts";
import { createDiscountVoucher } from "./builders.ts";
import { depsOf, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());

const ENTRIES = ["vtx_3", "vtx_2", "vtx_1"].map((id, index) => ({
  id,
  type: "POINTS_ADDITION",
  points: 5n,
  balance: 15n - 5n * BigInt(index),
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
const transactions = clientOf(
  TransactionService,
  createDirectTransport(routes({ ...depsOf(service.db), cards })),
);

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
  });

  test("rejects a voucher that is not a loyalty card", async () => {
    const { code } = await createDiscountVoucher(service);

    await expect(transactions.listCardTransactions({ code }, service.call())).rejects.toMatchObject(
      { key: "invalid_voucher" },
    );
  });
});

describe("ListMemberTransactions", () => {
  test("returns not_found for a card of another campaign", async () => {
    await expect(
      transactions.listMemberTransactions(
        { campaignId: "camp_other", memberId: card.code },
        service.call(),
      ),
    ).rejects.toMatchObject({ key: "not_found" });
  });
});
