import { fromBinary } from "@bufbuild/protobuf";
import { GiftBalanceAdjustedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";
import { TransactionService } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { VOUCHERS_TOPIC } from "../src/events/voucher-published.ts";
import { routes } from "../src/routes.ts";
import { commandOf, createCommit, createDiscountVoucher, createGiftVoucher } from "./builders.ts";
import { withRetries } from "./concurrency.ts";
import { checkInvariants, depsOf, NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());

/** Another process of the service on the same database. */
const process = () =>
  clientOf(TransactionService, createDirectTransport(routes(depsOf(service.db))));
const transactions = process();

const at = (instant: number) => ({ seconds: BigInt(instant / 1000), nanos: 0 });

const giftOf = async (code: string) =>
  (await service.vouchers.getVoucher({ code }, service.call())).gift;

const keyed = (key: string, body = "body") => ({
  ...service.call(),
  idempotency: { key, requestHash: new TextEncoder().encode(body) },
});

async function adjustmentsOf(voucherId: string) {
  const { rows } = await service.db.query<{ topic: string; payload: Buffer }>(
    "select topic, payload from outbox where key = $1 and type = $2 order by id",
    [voucherId, GiftBalanceAdjustedSchema.typeName],
  );
  expect(rows.every(({ topic }) => topic === VOUCHERS_TOPIC)).toBe(true);
  return rows.map(({ payload }) => fromBinary(GiftBalanceAdjustedSchema, payload));
}

describe("AdjustBalance", () => {
  test("adds and removes credits, each with a transaction and an event", async () => {
    const { id, code } = await createGiftVoucher(service, 1_000n);
    await createCommit(service)(
      commandOf(service, [{ voucher: await createdVoucher(code), credits: 300n }]),
    );
    const adjust = transactions.adjustBalance;

    const added = await adjust(
      { code, amount: 500n, sourceId: "crm-1", reason: "Regular customer" },
      service.call(),
    );
    const removed = await adjust({ code: id, amount: -1_200n }, service.call());

    expect(added).toMatchObject({
      amount: 500n,
      total: 1_500n,
      balance: 1_200n,
      type: "gift_voucher",
      operationType: "MANUAL",
      relatedObject: { id, type: "voucher" },
    });
    expect(removed).toMatchObject({ amount: -1_200n, total: 300n, balance: 0n });
    expect(await giftOf(code)).toMatchObject({ amount: 300n, balance: 0n });
    const { data } = await transactions.listCardTransactions({ code }, service.call());
    expect(
      data.map(({ type, source, sourceId, reason, details }) => [
        type,
        [source, sourceId, reason],
        [details?.balance?.amount, details?.balance?.total, details?.balance?.balance],
      ]),
    ).toEqual([
      ["CREDITS_REMOVAL", ["API", undefined, undefined], [-1_200n, 300n, 0n]],
      ["CREDITS_ADDITION", ["API", "crm-1", "Regular customer"], [500n, 1_500n, 1_200n]],
      ["CREDITS_REDEMPTION", [undefined, undefined, undefined], [-300n, 1_000n, 700n]],
      ["CREDITS_ADDITION", [undefined, undefined, undefined], [1_000n, 1_000n, 1_000n]],
    ]);
    const events = await adjustmentsOf(id);
    expect(events).toMatchObject([
      { amount: 500n, total: 1_500n, balance: 1_200n, sourceId: "crm-1", date: at(NOON) },
      { amount: -1_200n, total: 300n, balance: 0n },
    ]);
    expect(events.map(({ transactionId }) => transactionId)).toEqual([data[1]?.id, data[0]?.id]);
    await checkInvariants(service);
  });

  test("rejects other vouchers, zero, unknown codes and more credits than are left, and writes nothing", async () => {
    const gift = await createGiftVoucher(service, 100n);
    const discount = await createDiscountVoucher(service);
    const card = await service.vouchers.createVoucher(
      { code: "CARD", type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 15n } },
      service.call(),
    );
    for (const [code, amount, key] of [
      [gift.code, -101n, "gift_amount_exceeded"],
      [gift.code, 0n, "invalid_amount"],
      [gift.code, 10_000_000_000_000n, "invalid_amount"],
      [discount.code, 1n, "invalid_add_balance_params"],
      [card.code, 1n, "not_published"],
      ["nothing", 1n, "not_found"],
    ] as const) {
      await expect(
        transactions.adjustBalance({ code, amount }, service.call()),
      ).rejects.toMatchObject({ key });
    }
    expect(await giftOf(gift.code)).toMatchObject({ amount: 100n, balance: 100n });
    expect(await adjustmentsOf(gift.id)).toEqual([]);
  });

  test("leaves the credits that sessions lock on the voucher, until they expire", async () => {
    const voucher = await createGiftVoucher(service, 100n);
    await service.redemptions.reserveVouchers(
      {
        commands: [
          {
            projectId: service.projectId,
            sessionKey: "checkout",
            now: at(NOON),
            expiresAt: at(NOON + 60_000),
            reservations: [{ voucherId: voucher.id, definitionVersion: 1n, credits: 60n }],
          },
        ],
      },
      service.call(),
    );
    const remove = (amount: bigint, now = NOON) =>
      transactions.adjustBalance({ code: voucher.code, amount: -amount }, service.call({ now }));

    await expect(remove(41n)).rejects.toMatchObject({
      key: "gift_amount_exceeded",
      options: { details: "At most 40 credits can be removed" },
    });
    expect(await remove(40n)).toMatchObject({ balance: 60n });
    expect(await remove(60n, NOON + 61_000)).toMatchObject({ balance: 0n });
    // As the job does; the check of invariants takes real time for the project's.
    await service.db.query("delete from reservation where voucher_id = $1", [voucher.id]);
  });

  test("returns the same response to a repeated key and adjusts once, also over two processes", async () => {
    const { id, code } = await createGiftVoucher(service, 100n);
    const other = process();
    const attempts = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? transactions : other).adjustBalance({ code, amount: 7n }, keyed("once")),
      ),
    );
    const first = await other.adjustBalance({ code, amount: 7n }, keyed("once"));

    expect(first).toMatchObject({ amount: 7n, balance: 107n });
    for (const attempt of attempts) {
      if (attempt.status === "fulfilled") expect(attempt.value).toEqual(first);
      else expect(attempt.reason).toMatchObject({ key: "idempotency_in_progress" });
    }
    await expect(
      transactions.adjustBalance({ code, amount: 8n }, keyed("once", "other body")),
    ).rejects.toMatchObject({ key: "idempotency_key_reused" });
    expect(await giftOf(code)).toMatchObject({ balance: 107n });
    expect(await adjustmentsOf(id)).toHaveLength(1);
  });

  test("is exact under concurrent additions, removals, redemptions and rollbacks", async () => {
    const voucher = await createGiftVoucher(service, 1_000n);
    const clients = [transactions, process(), process()];
    const commit = withRetries(createCommit(service));
    const adjusting = Array.from({ length: 50 }, async (_, index): Promise<bigint> => {
      const amount = index % 3 === 0 ? 20n : -90n;
      const client = clients[index % clients.length] ?? transactions;
      const result = await client
        .adjustBalance({ code: voucher.code, amount }, keyed(`race-${index}`))
        .catch((error: unknown) => error);
      if (!(result instanceof Error)) return amount;
      expect(result).toMatchObject({ key: "gift_amount_exceeded" });
      return 0n;
    });
    const redeeming = Array.from({ length: 50 }, async (_, index): Promise<bigint> => {
      const [outcome] = await commit(commandOf(service, [{ voucher, credits: 15n }]));
      if (outcome?.outcome.case !== "committed") return 0n;
      if (index % 5 !== 0) return -15n;
      const redemptionId = outcome.outcome.value.redemptions[0]?.id ?? "";
      const command = { projectId: service.projectId, redemptionId, now: at(NOON) };
      for (;;) {
        const { outcomes } = await service.redemptions.commitRollbacks(
          { commands: [command] },
          service.call(),
        );
        if (outcomes[0]?.outcome.case === "committed") return 0n;
        expect(outcomes[0]?.outcome.value).toMatchObject({ key: "service_unavailable" });
      }
    });
    const adjusted = (await Promise.all(adjusting)).reduce((sum, change) => sum + change, 0n);
    const redeemed = (await Promise.all(redeeming)).reduce((sum, change) => sum + change, 0n);

    expect(await giftOf(voucher.code)).toMatchObject({
      amount: 1_000n + adjusted,
      balance: 1_000n + adjusted + redeemed,
    });
    await checkInvariants(service);
  });
});

const createdVoucher = (code: string) => service.vouchers.getVoucher({ code }, service.call());
