import type { MessageInitShape } from "@bufbuild/protobuf";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { type ItemOutcome, ItemResult } from "@scrip/proto/scrip/common/v1/items_pb";
import {
  type ImportVouchersRequestSchema,
  VoucherImportService,
} from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";
import { type Client, clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, beforeAll, expect, test } from "vitest";

import { routes } from "../src/routes.ts";
import { createDiscountVoucher, keyOf } from "./builders.ts";
import { checkInvariants, depsOf, startTestService, type TestService } from "./deps.ts";

let service: TestService;
let imports: Client<typeof VoucherImportService>;

beforeAll(async () => {
  service = await startTestService();
  imports = clientOf(VoucherImportService, createDirectTransport(routes(depsOf(service.db))));
});

afterAll(async () => {
  await checkInvariants(service);
  await service[Symbol.asyncDispose]();
});

type Item = NonNullable<MessageInitShape<typeof ImportVouchersRequestSchema>["items"]>[number];

const tenPercent = (code: string, overrides = {}): Item => ({
  voucher: { code, discount: { type: DiscountType.PERCENT, percentOff: "10" }, ...overrides },
});

const spring = { id: "camp_spring", name: "Spring", campaignType: "DISCOUNT_COUPONS" };

const textOf = ({ outcome }: ItemOutcome): string =>
  outcome.case === "rejected"
    ? outcome.value.key
    : (Object.entries(ItemResult).find(([, value]) => value === outcome.value)?.[0] ?? "");

test("creates the valid items of a batch and rejects each of the others by itself", async () => {
  await createDiscountVoucher(service, { code: "TAKEN" });
  const { outcomes } = await imports.importVouchers(
    {
      items: [
        tenPercent("A-1", { active: false, validityDayOfWeek: [1, 2], metadata: { shop: "x" } }),
        tenPercent("TAKEN"),
        tenPercent("A-1"),
        { voucher: { code: "A-2" } },
        tenPercent("A-3", { redemption: { quantity: 1n } }),
        tenPercent("A-\u0007"),
      ],
    },
    service.call(),
  );
  expect(outcomes.map(textOf)).toEqual([
    "CREATED",
    "duplicate_found",
    "duplicate_found",
    "invalid_payload",
    "CREATED",
    "invalid_payload",
  ]);
  expect(await service.vouchers.getVoucher({ code: "A-1" }, service.call())).toMatchObject({
    active: false,
    validityDayOfWeek: [1, 2],
    metadata: { shop: "x" },
    campaignId: undefined,
  });
});

test("counts what an imported voucher was used for before", async () => {
  const { outcomes } = await imports.importVouchers(
    {
      items: [
        {
          voucher: { code: "G-1", gift: { amount: 1_000n } },
          redeemedAmount: 300n,
          redeemedQuantity: 2n,
        },
        { voucher: { code: "G-2", gift: { amount: 1_000n } }, redeemedAmount: 1_001n },
        { ...tenPercent("G-3", { redemption: { quantity: 1n } }), redeemedQuantity: 2n },
        { voucher: { code: "G-4", gift: { amount: 500n } }, redeemedAmount: 500n },
      ],
    },
    service.call(),
  );
  expect(outcomes.map(textOf)).toEqual([
    "CREATED",
    "invalid_voucher",
    "invalid_voucher",
    "CREATED",
  ]);
  expect(await service.vouchers.getVoucher({ code: "G-1" }, service.call())).toMatchObject({
    gift: { amount: 1_000n, balance: 700n },
    redemption: { redeemedQuantity: 2n },
  });
});

test("updates active and category of vouchers of the same campaign only", async () => {
  const first = { campaign: spring, items: [tenPercent("C-1"), tenPercent("C-2")] };
  await imports.importVouchers(first, service.call());
  await createDiscountVoucher(service, { code: "ELSEWHERE" });
  const { outcomes } = await imports.importVouchers(
    {
      campaign: spring,
      updatesExisting: true,
      items: [
        { ...tenPercent("C-1", { active: false }), setsActive: true },
        { ...tenPercent("C-1", { categoryId: "cat_1", additionalInfo: "no" }), setsCategory: true },
        tenPercent("ELSEWHERE"),
        tenPercent("C-3"),
      ],
    },
    service.call(),
  );
  expect(outcomes.map(textOf)).toEqual(["UPDATED", "UPDATED", "duplicate_found", "CREATED"]);
  const updated = await service.vouchers.getVoucher({ code: "C-1" }, service.call());
  expect(updated).toMatchObject({ active: false, categoryId: "cat_1", campaign: "Spring" });
  expect(updated.additionalInfo).toBeUndefined();
});

test("has its effect once when it is repeated under its key", async () => {
  const request = { items: [tenPercent("K-1")] };
  const call = () => ({ ...service.call(), idempotency: keyOf("aa_1:0") });
  const first = await imports.importVouchers(request, call());
  expect((await imports.importVouchers(request, call())).outcomes).toEqual(first.outcomes);
  expect(first.outcomes.map(textOf)).toEqual(["CREATED"]);
});

test("creates each code once when batches with the same codes run concurrently", async () => {
  const codes = Array.from({ length: 300 }, (_, index) => `R-${index}`);
  const runs = await Promise.all(
    [codes, codes.toReversed(), codes].map((order) =>
      imports.importVouchers({ items: order.map((code) => tenPercent(code)) }, service.call()),
    ),
  );
  const created = runs.flatMap(({ outcomes }) => outcomes.filter((o) => textOf(o) === "CREATED"));
  expect(created).toHaveLength(codes.length);
});

test("merges metadata into vouchers by code, in order, and names unknown codes", async () => {
  await createDiscountVoucher(service, { code: "M-1", metadata: { a: 1, b: 1 } });
  const { outcomes } = await imports.updateVoucherMetadata(
    {
      items: [
        { code: "M-1", metadata: { b: 2, c: 2 } },
        { code: "NOBODY", metadata: { b: 2 } },
        { code: "M-1", metadata: { c: 3 } },
      ],
    },
    service.call(),
  );
  expect(outcomes.map(textOf)).toEqual(["UPDATED", "NOT_FOUND", "UPDATED"]);
  const { metadata } = await service.vouchers.getVoucher({ code: "M-1" }, service.call());
  expect(metadata).toEqual({ a: 1, b: 2, c: 3 });
  const codes = ["M-1", "M-1", "NOBODY"];
  expect(await imports.countExistingCodes({ codes }, service.call())).toMatchObject({
    existing: 1n,
  });
});
