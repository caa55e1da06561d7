import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { routes } from "../src/routes.ts";
import { createDiscountVoucher } from "./builders.ts";
import { depsOf, NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const publications = clientOf(
  PublicationService,
  createDirectTransport(routes(depsOf(service.db))),
);

const publish = async (customerId: string) => {
  const { code } = await createDiscountVoucher(service);
  const publication = await publications.createPublication(
    { customer: { id: customerId }, voucher: code, sourceId: `source_${customerId}` },
    service.call(),
  );
  return { code, publication };
};

const first = await publish("cust_1");
const second = await publish("cust_2");

const idsOf = (list: { readonly publications: readonly { readonly id: string }[] }) =>
  list.publications.map(({ id }) => id);

describe("ListPublications", () => {
  test("lists publications with their total", async () => {
    const list = await publications.listPublications({}, service.call());

    expect(list.total).toBe(2n);
    expect(idsOf(list).toSorted()).toEqual(
      [first.publication.id, second.publication.id].toSorted(),
    );
  });

  test.each([
    ["customer", { customer: "cust_2" }],
    ["source id", { sourceId: "source_cust_2" }],
    ["voucher", { voucher: second.code }],
  ])("filters by %s", async (_, request) => {
    const list = await publications.listPublications(request, service.call());

    expect(idsOf(list)).toEqual([second.publication.id]);
  });

  test.each(["discount", "Discount", "DISCOUNT_VOUCHER", "discount_voucher"])(
    "filters by the voucher type %s",
    async (voucherType) => {
      const filters = { voucher_type: { conditions: { $is: [voucherType] } } };
      for (const request of [{ voucherType }, { filters }]) {
        const list = await publications.listPublications(request, service.call());

        expect(list.total).toBe(2n);
      }
    },
  );

  test("filters by another voucher type, and rejects an unknown one", async () => {
    const gifts = await publications.listPublications({ voucherType: "Gift" }, service.call());

    expect(gifts.total).toBe(0n);
    await expect(
      publications.listPublications({ voucherType: "card" }, service.call()),
    ).rejects.toMatchObject({ key: "invalid_query_params" });
  });

  test("filters by the time of creation, in the lists of vouchers and customers too", async () => {
    const at = (instant: number) => ({ seconds: BigInt(instant / 1000), nanos: 0 });
    for (const [createdAt, total] of [
      [{ after: at(NOON) }, 0n],
      [{ before: at(NOON) }, 0n],
      [{ after: at(NOON - 1000), before: at(NOON + 1000) }, 1n],
    ] as const) {
      const lists = await Promise.all([
        publications.listPublications({ createdAt, customer: "cust_1" }, service.call()),
        publications.listVoucherPublications({ createdAt, code: first.code }, service.call()),
        publications.listCustomerRedeemables({ createdAt, customerId: "cust_1" }, service.call()),
      ]);

      expect(lists.map((list) => list.total)).toEqual([total, total, total]);
    }
  });

  test("rejects an unknown result", async () => {
    await expect(
      publications.listPublications({ result: "MAYBE" }, service.call()),
    ).rejects.toMatchObject({ key: "invalid_query_params" });
  });
});

describe("ListVoucherPublications", () => {
  test("lists the publications of one voucher", async () => {
    const list = await publications.listVoucherPublications({ code: first.code }, service.call());

    expect(idsOf(list)).toEqual([first.publication.id]);
  });

  test("returns not_found for an unknown voucher", async () => {
    await expect(
      publications.listVoucherPublications({ code: "UNKNOWN" }, service.call()),
    ).rejects.toMatchObject({ key: "not_found" });
  });
});

describe("ListCustomerRedeemables", () => {
  test("lists the vouchers of a customer with their status", async () => {
    const list = await publications.listCustomerRedeemables(
      { customerId: "cust_1" },
      service.call(),
    );

    expect(list).toMatchObject({ total: 1n, hasMore: false });
    expect(list.data.map(({ redeemable }) => redeemable?.voucher?.code)).toEqual([first.code]);
  });

  test("lists nothing for a customer without vouchers", async () => {
    const list = await publications.listCustomerRedeemables(
      { customerId: "cust_3" },
      service.call(),
    );

    expect(list).toMatchObject({ total: 0n, data: [], hasMore: false });
  });
});
