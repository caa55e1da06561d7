import { repetitions } from "@scrip/testing/repetitions";
import { Client } from "pg";
import { afterAll, describe, expect, test } from "vitest";

import { inParallel, newCode, serverApi } from "../stack/api.ts";
import { COMPOSITIONS, sharedStack, startStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("the Idempotency-Key header (%s)", async (composition) => {
  const api = await serverApi(await sharedStack(composition));

  test("returns byte-equal replays without a second effect, for successes and rejections", async () => {
    const code = newCode("KEY");
    await api.post("/v1/vouchers", {
      code,
      type: "DISCOUNT_VOUCHER",
      discount: { type: "AMOUNT", amount_off: 100 },
      redemption: { quantity: 2 },
    });
    const body = { order: { source_id: newCode("order"), amount: 1000 }, metadata: { n: 1 } };
    const redeem = (key: string, sent: object = body) =>
      api.post(`/v1/vouchers/${code}/redemption`, sent, { "idempotency-key": key });

    const first = await redeem("one");
    expect(first.status, first.text).toBe(200);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    await api.put(`/v1/vouchers/${code}`, { metadata: { changed: true } });
    const repeat = await redeem("one");
    expect([repeat.status, repeat.text]).toEqual([200, first.text]);
    expect(repeat.headers.get("idempotent-replayed")).toBe("true");

    const other = await redeem("one", { order: { amount: 999 } });
    expect([other.status, other.body["key"]]).toEqual([422, "idempotency_key_reused"]);

    expect((await redeem("two", {})).status).toBe(200);
    const rejected = await redeem("three", {});
    expect([rejected.status, rejected.body["key"]]).toEqual([400, "quantity_exceeded"]);
    const again = await redeem("three", {});
    expect([again.status, again.text]).toEqual([400, rejected.text]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");

    const voucher = await api.get(`/v1/vouchers/${code}`);
    expect(voucher.body["redemption"].redeemed_quantity).toBe(2);
  });

  test("does not revert an order that a later redemption has changed", async () => {
    const codes = [newCode("FIRST"), newCode("SECOND")];
    for (const code of codes) {
      await api.post("/v1/vouchers", {
        code,
        type: "DISCOUNT_VOUCHER",
        discount: { type: "AMOUNT", amount_off: 100 },
      });
    }
    const order = { source_id: newCode("order"), amount: 1000 };
    const redeem = (code: string, sent: object, key: string) =>
      api.post(`/v1/vouchers/${code}/redemption`, { order: sent }, { "idempotency-key": key });
    const [first, second] = codes as [string, string];
    await redeem(first, order, "order-first");
    const named = { source_id: order.source_id };
    expect((await redeem(second, named, "order-second")).body["order"].total_amount).toBe(800);
    await redeem(first, order, "order-first");
    const validation = await api.post(`/v1/vouchers/${first}/validate`, { order: named });
    expect(validation.body["order"], validation.text).toMatchObject({
      amount: 1000,
      discount_amount: 300,
      applied_discount_amount: 100,
    });
  });

  test("creates one voucher when a creation is repeated", async () => {
    const key = newCode("create");
    const body = { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 } };
    const [first, second] = [
      await api.post("/v1/vouchers", body, { "idempotency-key": key }),
      await api.post("/v1/vouchers", body, { "idempotency-key": key }),
    ];
    expect(first.status, first.text).toBe(200);
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
  });
});

/** The first kill meets few answered requests, the second many. */
const KILLS = repetitions({ usual: 2, full: 4 });

describe("kill -9 of the process", async () => {
  const stack = await startStack("standalone");
  afterAll(() => stack[Symbol.asyncDispose]());

  test("redeems once per key and loses no acknowledged redemption", async () => {
    const api = await serverApi(stack);
    const code = newCode("CRASH");
    await api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 1_000_000 } });
    const redeem = (key: string) =>
      api.post(
        `/v1/vouchers/${code}/redemption`,
        { gift: { credits: 7 }, order: { amount: 1000 } },
        { "idempotency-key": key },
      );
    const acknowledged = new Map<string, string>();
    let sent = 0;
    for (let round = 0; round < KILLS; round += 1) {
      const keys: string[] = [];
      const clients = Array.from({ length: 16 }, async () => {
        for (;;) {
          const key = `crash-${sent++}`;
          keys.push(key);
          const response = await redeem(key).catch(() => undefined);
          if (response === undefined) return;
          expect(response.status, response.text).toBe(200);
          acknowledged.set(key, response.text);
        }
      });
      // Kills the process at a different time in each round.
      await new Promise((resolve) => setTimeout(resolve, 60 + round * 120));
      await stack.crash();
      await Promise.all(clients);

      await inParallel(keys, 16, async (key) => {
        const repeat = await redeem(key);
        expect(repeat.status, repeat.text).toBe(200);
        expect(repeat.text).toBe(acknowledged.get(key) ?? repeat.text);
        acknowledged.set(key, repeat.text);
      });
    }
    const ids = new Set(
      [...acknowledged.values()].map((text) => (JSON.parse(text) as { id: string }).id),
    );
    expect(ids.size).toBe(sent);
    const voucher = await api.get(`/v1/vouchers/${code}`);
    expect(voucher.body["gift"].balance).toBe(1_000_000 - 7 * sent);
    expect(voucher.body["redemption"].redeemed_quantity).toBe(sent);
    expect(await countRedemptions(stack.databaseUrl, voucher.body["id"] as string)).toBe(sent);
  }, 120_000);
});

async function countRedemptions(url: string, voucherId: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: string }>(
      "select count(*) from voucher.redemption where voucher_id = $1 and status = 'SUCCEEDED'",
      [voucherId],
    );
    return Number(rows[0]?.count);
  } finally {
    await client.end();
  }
}
