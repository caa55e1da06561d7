import { create } from "@bufbuild/protobuf";
import {
  CardService,
  type GetCardBalancesRequest,
  GetCardBalancesResponseSchema,
  ListLedgerEntriesResponseSchema,
  ListPointsLotsResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { MemberService } from "@scrip/proto/scrip/voucher/v1/members_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { routes } from "../src/routes.ts";
import { createGiftVoucher } from "./builders.ts";
import { depsOf, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());

/** A loyalty service whose cards have 12 points, 5 of which expire, and one transaction. */
const cards = clientOf(
  CardService,
  createDirectTransport([
    {
      service: CardService,
      handlers: {
        getCardBalances: ({ cards: asked }: GetCardBalancesRequest) =>
          Promise.resolve(
            create(GetCardBalancesResponseSchema, {
              balances: asked.map(() => ({ points: 12n, balance: 12n })),
            }),
          ),
        listPointsLots: () =>
          Promise.resolve(
            create(ListPointsLotsResponseSchema, {
              lots: [{ id: "lopb_1", points: 5n, expiresAt: "2027-01-31" }],
              total: 1n,
            }),
          ),
        listLedgerEntries: () =>
          Promise.resolve(
            create(ListLedgerEntriesResponseSchema, {
              entries: [{ id: "vtx_1", type: "POINTS_ADDITION", points: 12n, balance: 12n }],
              total: 1n,
            }),
          ),
      },
    },
  ]),
);
const members = clientOf(
  MemberService,
  createDirectTransport(routes({ ...depsOf(service.db), cards })),
);

async function createCard(code: string, campaignId: string) {
  const card = await service.vouchers.createVoucher(
    { code, type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 12n } },
    service.call(),
  );
  await service.db.query("update voucher set campaign_id = $2 where id = $1", [
    card.id,
    campaignId,
  ]);
  return card;
}

describe("MemberService", async () => {
  const campaignId = "camp_club";
  const card = await createCard("CARD-1", campaignId);
  const other = await createCard("CARD-2", "camp_other");
  const gift = await createGiftVoucher(service, 100n);
  const call = service.call();

  test("lists the cards of a program, and returns one with its current balance", async () => {
    const { vouchers, total } = await members.listMembers({ campaignId }, call);
    expect([total, vouchers.map(({ id }) => id)]).toEqual([1n, [card.id]]);
    const found = await members.getMember({ memberId: card.code, campaignId }, call);
    expect(found).toMatchObject({ id: card.id, loyaltyCard: { balance: 12n } });
  });

  test("lists what expires, and the transactions of a program", async () => {
    const { data } = await members.listPointsExpiration({ memberId: card.id, campaignId }, call);
    expect(data).toMatchObject([
      { id: "lopb_1", voucherId: card.id, bucket: { totalPoints: 5n }, expiresAt: "2027-01-31" },
    ]);
    const transactions = await members.listProgramTransactions({ campaignId }, call);
    expect(transactions.data).toMatchObject([{ id: "vtx_1", type: "POINTS_ADDITION" }]);
  });

  test("rejects cards of other programs, other vouchers and cards without holder", async () => {
    const rejected = (key: string) => ({ key });
    await expect(
      members.getMember({ memberId: other.code, campaignId }, call),
    ).rejects.toMatchObject(rejected("not_found"));
    await expect(members.getMember({ memberId: gift.code }, call)).rejects.toMatchObject(
      rejected("invalid_voucher"),
    );
    await expect(
      members.adjustMemberBalance({ memberId: card.code, points: 5n }, call),
    ).rejects.toMatchObject(rejected("not_published"));
    await expect(
      members.transferMemberPoints(
        { memberId: card.code, campaignId, transfers: [{ code: other.code, points: 1n }] },
        call,
      ),
    ).rejects.toMatchObject(rejected("not_published"));
  });
});
