import { describe, expect, test } from "vitest";

import { inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const TIER: Json = {
  name: "Ten off",
  action: { discount: { type: "AMOUNT", amount_off: 1000 } },
};

describe.each(COMPOSITIONS)("exports (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test("a file is downloaded by its link alone, in whole or in parts", async () => {
    const code = newCode("exported");
    await ok(api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 150 } }));
    const { id } = await ok(
      api.post("/v1/exports", {
        exported_object: "voucher",
        parameters: { fields: ["code", "value"], filters: { code: { conditions: { $is: code } } } },
      }),
    );
    await expect.poll(async () => (await ok(api.get(`/v1/exports/${id}`)))["status"]).toBe("DONE");
    const { result } = await ok(api.get(`/v1/exports/${id}`));
    const { pathname, search } = new URL(result.url, stack.url);
    const fetchPart = async (headers: Record<string, string> = {}, query = search) => {
      const response = await fetch(`${stack.url}${pathname}${query}`, { headers });
      return { response, text: await response.text() };
    };
    const whole = `Code,Value\n${code},1.50\n`;
    const { response, text } = await fetchPart();
    expect([response.status, text]).toEqual([200, whole]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${id}.csv"`,
      "content-length": String(whole.length),
      "accept-ranges": "bytes",
      "cache-control": "no-store",
    });
    const part = await fetchPart({ range: "bytes=5-9" });
    expect([part.response.status, part.text]).toEqual([206, "Value"]);
    expect(part.response.headers.get("content-range")).toBe(`bytes 5-9/${whole.length}`);
    const behind = await fetchPart({ range: "bytes=9999-" });
    expect(behind.response.status).toBe(416);
    expect(JSON.parse(behind.text)).toMatchObject({ code: 416, key: "range_not_satisfiable" });
    expect(behind.response.headers.get("content-range")).toBe(`bytes */${whole.length}`);

    const wrong = await fetchPart({}, "?token=wrong");
    expect([wrong.response.status, JSON.parse(wrong.text).key]).toEqual([401, "unauthorized"]);
    expect((await api.delete(`/v1/exports/${id}`)).status).toBe(204);
    const gone = await fetchPart();
    expect([gone.response.status, JSON.parse(gone.text).key]).toEqual([404, "not_found"]);
  });

  test.each(["exports/%00", "async-actions/a%00/report"])(
    "a link with NUL in its path is invalid: %s",
    async (path) => {
      const response = await fetch(`${stack.url}/v1/${path}?token=wrong`);
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { key: "invalid_payload" },
      ]);
    },
  );

  test("lists and files find the redemptions of a promotion by the name and the id of its campaign", async () => {
    const name = newCode("promotion");
    const campaign = await ok(
      api.post("/v1/campaigns", { name, campaign_type: "PROMOTION", promotion: { tiers: [TIER] } }),
    );
    const [tier] = campaign["promotion"].tiers;
    const order = { amount: 1000 };
    const { id } = await ok(api.post(`/v1/promotions/tiers/${tier.id}/redemption`, { order }));
    const conditions = [
      ["campaign", name],
      ["campaign_name", name],
      ["campaign_id", campaign["id"]],
    ] as const;
    for (const [field, value] of conditions) {
      const filter = `filters[${field}][conditions][$is]=${value}`;
      const listed = async () => (await ok(api.get(`/v1/redemptions?${filter}`)))["redemptions"];
      // The name arrives with an event.
      await expect.poll(listed).toMatchObject([{ id }]);
      const filters = { [field]: { conditions: { $is: value } } };
      const parameters = { fields: ["id", "campaign"], filters };
      const file = await exported({ exported_object: "redemption", parameters });
      expect(file).toBe(`ID,Campaign\n${id},${name}\n`);
    }
  });

  test("the amount of the order is exported also where it is 0, and for redemptions of a stack", async () => {
    const prefix = newCode("amounts");
    const codes = [`${prefix}-1`, `${prefix}-2`];
    const discount = { type: "PERCENT", percent_off: 10 };
    for (const code of codes) {
      await ok(api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount }));
    }
    const redeem = async (used: readonly string[], order?: Json): Promise<Json> => {
      const redeemables = used.map((id) => ({ object: "voucher", id }));
      return ok(api.post("/v1/redemptions", { redeemables, order }));
    };
    const [free, none] = [
      await redeem(codes.slice(0, 1), { amount: 0 }),
      await redeem(codes.slice(0, 1)),
    ];
    const stacked = await redeem(codes, { amount: 2000 });
    const parts: string[] = stacked["redemptions"].map(({ id }: Json) => id);
    const amounts: readonly (readonly [string, number | ""])[] = [
      [free["redemptions"][0].id, 0],
      [none["redemptions"][0].id, ""],
      [stacked["parent_redemption"].id, 2000],
      ...parts.map((id) => [id, 2000] as const),
    ];
    const filters = { id: { conditions: { $in: amounts.map(([id]) => id) } } };
    const parameters = { fields: ["id", "order_amount"], filters };
    const file = await exported({ exported_object: "redemption", parameters });
    const lines = amounts.map(([id, amount]) => `${id},${amount}`);
    expect(file.trimEnd().split("\n").toSorted()).toEqual(["ID,Order Amount", ...lines].toSorted());
  });

  const exported = async (request: Json): Promise<string> => {
    const { id } = await ok(api.post("/v1/exports", request));
    const get = () => ok(api.get(`/v1/exports/${id}`));
    await expect.poll(async () => (await get())["status"]).toBe("DONE");
    const { pathname, search } = new URL((await get())["result"].url, stack.url);
    return (await fetch(`${stack.url}${pathname}${search}`)).text();
  };

  test("a file shows the same details of transactions as their list", async () => {
    const program = await createLoyaltyProgram(api, { points: 3_000 });
    const loyalty = { type: "FIXED", points: 7 };
    const rules = [{ event: "order.paid", source: { banner: "Seven" }, loyalty }];
    await ok(api.post(`/v1/loyalties/${program.campaignId}/earning-rules`, rules));
    const card = await program.createCard();
    const gift = newCode("gift");
    const { id: giftId } = await ok(
      api.post("/v1/vouchers", { code: gift, type: "GIFT_VOUCHER", gift: { amount: 500 } }),
    );
    for (const [code, body] of [
      [card.code, { reward: { id: program.rewardId } }],
      [gift, { gift: { credits: 100 } }],
    ] as const) {
      const { customer } = card;
      const order = { source_id: newCode("order"), amount: 10_000 };
      const redemption = { customer, order, ...body };
      const { id } = await ok(api.post(`/v1/vouchers/${code}/redemption`, redemption));
      await ok(api.post(`/v1/redemptions/${id}/rollback`));
    }
    const balance = `/v1/loyalties/members/${card.code}/balance`;
    await ok(api.post(balance, { points: -5, reason: "Sorry" }));
    const transactionsOf = async (code: string): Promise<readonly Json[]> =>
      (await ok(api.get(`/v1/vouchers/${code}/transactions`)))["data"];
    // Redemption, rollback, adjustment, and points for the two orders.
    await expect
      .poll(async () => (await transactionsOf(card.code)).length, { timeout: 20_000 })
      .toBe(5);
    const listed = [...(await transactionsOf(card.code)), ...(await transactionsOf(gift))];
    expect(listed).toHaveLength(8);

    const parameters = {
      fields: ["id", "details"],
      filters: { voucher_id: { conditions: { $in: [card.id, giftId] } } },
    };
    const file = await exported({ exported_object: "voucher_transactions", parameters });
    const rows = file.trim().split("\n").slice(1);
    const details = rows.map((row): [string, Json] => {
      const [id = "", ...json] = row.split(",");
      return [id, JSON.parse(json.join(",").slice(1, -1).replaceAll('""', '"'))];
    });
    expect(Object.fromEntries(details)).toEqual(
      Object.fromEntries(listed.map((one) => [one["id"], one["details"]])),
    );
  });

  test("points are found by their state", async () => {
    const program = await createLoyaltyProgram(api, { points: 30 });
    const card = await program.createCard();
    const path = `/v1/loyalties/members/${card.code}/balance`;
    const lot = { expiration_type: "CUSTOM_DATE", expiration_date: "2999-01-31" };
    await ok(api.post(path, { points: 5, ...lot }));
    const pointsOf = async (operator: string): Promise<string> => {
      const filters = { voucher_id: { conditions: { $is: card.id } }, status: { [operator]: "" } };
      const parameters = { fields: ["points"], filters };
      return exported({ exported_object: "points_expiration", parameters });
    };
    expect(await pointsOf("$active")).toBe("Points\n5\n30\n");
    expect(await pointsOf("$expired")).toBe("Points\n");
  });

  test("a line break in a text stays within its cell, also beside fields that are looked up", async () => {
    const code = newCode("lines");
    const discount = { type: "PERCENT", percent_off: 10 };
    await ok(
      api.post("/v1/vouchers", {
        code,
        type: "DISCOUNT_VOUCHER",
        discount,
        additional_info: "a\rb",
        metadata: { address: "c\rd" },
      }),
    );
    const filters = { code: { conditions: { $is: code } } };
    for (const looked of [[], ["category"]]) {
      const fields = ["metadata.address", "additional_info", "code", ...looked];
      const parameters = { fields, filters };
      const file = await exported({ exported_object: "voucher", parameters });
      const [, row] = file.split("\n");
      expect(row).toBe([`"c\rd"`, `"a\rb"`, code, ...looked.map(() => "")].join(","));
    }
  });

  test("a file shows each redemption in whole or not at all", async () => {
    const prefix = newCode("snapshot");
    const pairs = Array.from({ length: 8 }, (_, pair) => [
      `${prefix}-${pair}-a`,
      `${prefix}-${pair}-b`,
    ]);
    await inParallel(pairs.flat(), 4, (code) =>
      ok(api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 100_000 } })),
    );
    const traffic = { isOver: false, redemptions: 0 };
    const redeeming = inParallel(pairs, pairs.length, async (codes) => {
      while (!traffic.isOver) {
        const redeemables = codes.map((id) => ({ object: "voucher", id, gift: { credits: 10 } }));
        await ok(api.post("/v1/redemptions", { redeemables, order: { amount: 20 } }));
        traffic.redemptions += 1;
      }
    });
    const filters = { code: { conditions: { $starts_with: prefix } } };
    const parameters = {
      fields: ["code", "redemption_count", "gift_balance"],
      filters,
      order: "code",
    };
    const seen: number[] = [];
    while (seen.length < 6) {
      const { id } = await ok(api.post("/v1/exports", { exported_object: "voucher", parameters }));
      const get = () => ok(api.get(`/v1/exports/${id}`));
      await expect.poll(async () => (await get())["status"]).toBe("DONE");
      const { pathname, search } = new URL((await get())["result"].url, stack.url);
      const text = await (await fetch(`${stack.url}${pathname}${search}`)).text();
      const rows = text
        .trim()
        .split("\n")
        .slice(1)
        .map((row) => row.split(","));
      const counts = rows.map(([, count]) => Number(count));
      expect(rows.map(([code]) => code)).toEqual(pairs.flat());
      expect(rows.map(([, , balance]) => Number(balance))).toEqual(
        counts.map((count) => 100_000 - 10 * count),
      );
      for (let at = 0; at < counts.length; at += 2) expect(counts[at]).toBe(counts[at + 1]);
      seen.push(counts.reduce((sum, count) => sum + count, 0) / 2);
    }
    traffic.isOver = true;
    await redeeming;
    // The files were written while vouchers were redeemed.
    expect(seen.at(-1)).toBeGreaterThan(seen[0] ?? 0);
    expect(seen.at(-1)).toBeLessThanOrEqual(traffic.redemptions);
  });
});
