import { describe, expect, test } from "vitest";

import { inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { referralBuilders } from "../stack/referral-builders.ts";
import { errorOf, ok, ruleBuilders } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("holders of referral codes (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const { createVoucher } = ruleBuilders(api);
  const { program, publishedCode } = referralBuilders(api);

  const isKnown = async (source: string): Promise<boolean> =>
    (await api.get(`/v1/customers/${source}`)).status === 200;

  test("are assigned in the order of the request, listed by cursor and removed", async () => {
    const { path, shortPath, referrerId, voucherId, campaign, referrer } = await publishedCode();
    const [ann, bob, eve] = [newCode("ann"), newCode("bob"), newCode("eve")];
    const { id: bobId } = await ok(api.post("/v1/customers", { source_id: bob, name: "Bob" }));
    const created = await ok(
      api.post(path, {
        holders: [
          { source_id: ann, name: "Ann" },
          { id: bobId, source_id: "ignored", email: "bob@shop.example" },
        ],
        metadata: { way: "mail" },
      }),
    );
    const [first, second] = created["holders"];
    expect(created).toEqual({ holders: [first, second] });
    expect(first).toEqual({
      object: "redeemable_holder",
      id: expect.stringMatching(/^rh_[0-9a-f]{18}$/),
      created_at: expect.any(String),
      redeemable_id: voucherId,
      redeemable_object: "voucher",
      campaign_id: campaign["id"],
      campaign_type: "REFERRAL_PROGRAM",
      voucher_type: "DISCOUNT_VOUCHER",
      customer_id: (await ok(api.get(`/v1/customers/${ann}`)))["id"],
      holder_role: "REFEREE",
      metadata: { way: "mail" },
    });
    expect(second).toMatchObject({ customer_id: bobId });
    expect(await ok(api.get(`/v1/customers/${bobId}`))).toMatchObject({
      name: "Bob",
      email: "bob@shop.example",
      source_id: bob,
    });
    const more = await ok(api.post(shortPath, { holders: [eve] }));
    const [third] = more["holders"];
    expect(third).not.toHaveProperty("metadata");

    const page = await ok(api.get(`${path}?limit=3`));
    expect(page).toMatchObject({
      object: "list",
      data_ref: "data",
      data: [third, second, first],
      total: 4,
      has_more: true,
      more_starting_after: first.id,
    });
    const rest = await ok(api.get(`${shortPath}?starting_after_id=${first.id}`));
    expect(rest).toMatchObject({
      data: [{ holder_role: "REFERRER", customer_id: referrerId }],
      total: 4,
      has_more: false,
    });
    expect(rest).not.toHaveProperty("more_starting_after");
    const [owner] = rest["data"];
    const queries: readonly (readonly [string, unknown[]])[] = [
      ["order=id", [owner, first, second, third]],
      ["filters[holder_role][conditions][$is]=REFERRER", [owner]],
      [`filters[customer_id][conditions][$in][0]=${bobId}`, [second]],
      [`filters[id][conditions][$is_not]=${owner.id}&order=id`, [first, second, third]],
      ["filters[created_at][conditions][$before]=2020-01-01T00:00:00Z", []],
      ["created_at[after]=2020-01-01&limit=1", [third]],
    ];
    for (const [query, data] of queries) {
      expect((await ok(api.get(`${path}?${query}`)))["data"], query).toEqual(data);
    }
    for (const query of ["order=name", "limit=0", "filters[x][conditions][$is]=1"]) {
      expect((await errorOf(api.get(`${path}?${query}`))).slice(0, 2), query).toEqual([
        400,
        "invalid_query_params",
      ]);
    }
    // The code is among the redeemables of a referee, but its holder stays the referrer.
    expect(await ok(api.get(`/v1/customers/${ann}/redeemables`))).toMatchObject({
      data: [{ holder_role: "REFEREE", redeemable: { voucher: { holder_id: referrerId } } }],
    });

    expect((await api.delete(`${path}/${first.id}`)).status).toBe(204);
    expect((await api.delete(`${shortPath}/${second.id}`)).status).toBe(204);
    expect((await errorOf(api.delete(`${path}/${first.id}`)))[2]).toBe("redeemable_holder");
    const protectedHolder = await api.delete(`${path}/${owner.id}`);
    expect([protectedHolder.status, protectedHolder.body]).toMatchObject([
      403,
      {
        key: "forbidden",
        message: "Can not remove assignment",
        details: "You can not remove Referrer assignment",
      },
    ]);
    expect((await ok(api.get(path)))["data"]).toEqual([third, owner]);
    // A removed referee can be assigned again; the referrer never.
    await ok(api.post(path, { holders: [ann] }));
    expect((await errorOf(api.post(path, { holders: [referrer] })))[1]).toBe(
      "holder_assignement_duplication",
    );
  });

  test("a rejected request assigns no holder and creates no customer", async () => {
    const { path, shortPath, referrer, referrerId } = await publishedCode();
    const { id: known } = await ok(api.post("/v1/customers", { source_id: newCode("known") }));
    const assigned = newCode("assigned");
    await ok(api.post(path, { holders: [assigned] }));
    const knownSource = (await ok(api.get(`/v1/customers/${known}`)))["source_id"];
    const twice = newCode("twice");
    const cases: readonly (readonly [Json[] | string[], unknown[]])[] = [
      [[{ id: "cust_none" }], [404, "not_found", "customer"]],
      [
        [{ name: "No id" }],
        [400, "invalid_payload", "Property .holders[1] must have .id or .source_id"],
      ],
      [
        [{ source_id: twice }, { source_id: twice }],
        [409, "duplicate_found", "customer"],
      ],
      [
        [{ id: known }, { source_id: knownSource }],
        [409, "duplicate_found", "customer"],
      ],
      [[assigned], [409, "holder_assignement_duplication", "customer"]],
      [[referrer], [409, "holder_assignement_duplication", "customer"]],
      [[{ id: referrerId }], [409, "holder_assignement_duplication", "customer"]],
    ];
    for (const [holders, error] of cases) {
      const bystander = newCode("bystander");
      const sent = api.post(shortPath, { holders: [bystander, ...holders] });
      expect(await errorOf(sent), JSON.stringify(holders)).toEqual(error);
      expect(await isKnown(bystander), JSON.stringify(holders)).toBe(false);
    }
    expect(await isKnown(twice)).toBe(false);
    expect((await ok(api.get(path)))["total"]).toBe(2);
    expect(await errorOf(api.post(path, { holders: [] }))).toEqual([
      400,
      "invalid_payload",
      "Property .holders must NOT have fewer than 1 items",
    ]);
    const crowd = Array.from({ length: 101 }, (_, index) => `crowd-${index}`);
    expect(await errorOf(api.post(path, { holders: crowd }))).toEqual([
      400,
      "invalid_payload",
      "Property .holders must NOT have more than 100 items",
    ]);
  });

  test("belong to published referral codes of the campaign in the path", async () => {
    const { campaign, path, code } = await publishedCode();
    const body = { holders: [newCode("friend")] };
    const { code: unpublished } = await ok(api.post(`/v1/campaigns/${campaign["id"]}/vouchers`));
    const early = await api.post(`/v1/referrals/members/${unpublished}/holders`, body);
    expect([early.status, early.body]).toMatchObject([
      400,
      {
        key: "not_published",
        message: "Voucher is not published",
        details: "Referral code must be first published to Referrer before assigning it to Referee",
      },
    ]);
    const { code: plain } = await createVoucher();
    expect((await errorOf(api.post(`/v1/referrals/members/${plain}/holders`, body)))[1]).toBe(
      "invalid_voucher",
    );
    expect(await errorOf(api.get(`/v1/referrals/members/${plain}/holders`))).toEqual([
      404,
      "not_found",
      "voucher",
    ]);
    const other = await program();
    const wrong = path.replace(String(campaign["id"]), String(other["id"]));
    for (const sent of [api.post(wrong, body), api.get(wrong), api.delete(`${wrong}/rh_1`)]) {
      expect(await errorOf(sent)).toEqual([404, "not_found", "voucher"]);
    }
    expect(await errorOf(api.get(`/v1/referrals/nowhere/members/${code}/holders`))).toEqual([
      404,
      "not_found",
      "campaign",
    ]);
    const byName = `/v1/referrals/${encodeURIComponent(campaign["name"])}/members/${code}/holders`;
    await ok(api.post(byName, body));
    const narrow = await serverApi(stack, "referrals");
    await ok(narrow.get(path));
    expect((await (await serverApi(stack, "vouchers")).get(path)).status).toBe(403);
  });

  test("concurrent requests assign a customer once, and each assigns all of its customers or none", async () => {
    const { path } = await publishedCode();
    const shared = newCode("shared");
    const own = Array.from({ length: 16 }, () => newCode("own"));
    const responses = await inParallel(own, 16, (source) =>
      api.post(path, { holders: [source, shared] }),
    );
    const won = own.filter((_, index) => responses[index]?.status === 200);
    expect(won).toHaveLength(1);
    for (const { status, body } of responses) {
      if (status !== 200) expect(body["key"]).toBe("holder_assignement_duplication");
    }
    const { data } = await ok(api.get(`${path}?filters[holder_role][conditions][$is]=REFEREE`));
    expect(data).toHaveLength(2);
  });

  test("all invariants hold afterwards", async () => {
    expect(await invariantViolations(stack, stack.projectId)).toEqual([]);
  });
});
