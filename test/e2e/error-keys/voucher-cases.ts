import { newCode } from "../../stack/api.ts";
import type { ErrorCase } from "./error-case.ts";
import { INVALID_DISCOUNT, DISCOUNT_VOUCHER } from "./fixtures.ts";

const vouchers: readonly ErrorCase[] = [
  {
    rpc: "VoucherService.CreateVoucher",
    key: "duplicate_found",
    request: async (shop) => ({ body: { ...DISCOUNT_VOUCHER, code: await shop.voucher() } }),
  },
  {
    rpc: "VoucherService.CreateVoucher",
    key: "invalid_campaign",
    request: async (shop) => ({
      body: { ...DISCOUNT_VOUCHER, campaign_id: (await shop.promotion())["id"] },
    }),
  },
  {
    rpc: "VoucherService.CreateVoucher",
    key: "invalid_code_config",
    request: { body: { ...DISCOUNT_VOUCHER, code_config: { length: 0 } } },
  },
  {
    rpc: "VoucherService.CreateVoucher",
    key: "invalid_voucher",
    request: { body: { type: "DISCOUNT_VOUCHER", discount: INVALID_DISCOUNT } },
  },
  {
    rpc: "VoucherService.ListVouchers",
    key: "forbidden",
    side: "client",
    request: { query: { customer: "ann" } },
  },
  {
    rpc: "VoucherService.UpdateVoucher",
    key: "invalid_voucher",
    request: async (shop) => ({
      params: { code: await shop.voucher() },
      body: { type: "GIFT_VOUCHER" },
    }),
  },
  {
    rpc: "VoucherService.UpdateVoucher",
    key: "resource_protected",
    request: async (shop) => {
      const gift = { amount: 500 };
      const code = await shop.voucher({ type: "GIFT_VOUCHER", discount: undefined, gift });
      return { params: { code }, body: { gift: { amount: 600 } } };
    },
  },
  {
    rpc: "TransactionService.AdjustBalance",
    key: "invalid_add_balance_params",
    request: async (shop) => ({ params: { code: await shop.voucher() }, body: { amount: 1 } }),
  },
  ...[
    { key: "invalid_amount", amount: 0 },
    { key: "gift_amount_exceeded", amount: -501 },
  ].map(({ key, amount }): ErrorCase => ({
    rpc: "TransactionService.AdjustBalance",
    key,
    request: async (shop) => {
      const gift = { amount: 500 };
      const code = await shop.voucher({ type: "GIFT_VOUCHER", discount: undefined, gift });
      return { params: { code }, body: { amount } };
    },
  })),
  {
    rpc: "VoucherService.GetBarcode",
    key: "invalid_code_config",
    request: async (shop) => {
      const { assets } = await shop.create("/v1/vouchers", {
        ...DISCOUNT_VOUCHER,
        code: newCode("ÄÖÜ"),
      });
      return { params: { id: assets.barcode.id } };
    },
  },
];

const pages = [
  "RedemptionService.ListVoucherRedemptions",
  "RedemptionService.ListRedemptions",
  "PublicationService.ListPublications",
  "PublicationService.ListVoucherPublications",
].map((rpc): ErrorCase => ({
  rpc,
  key: "page_over_limit",
  request: async (shop) => ({ params: { code: await shop.voucher() }, query: { page: 1001 } }),
}));

export const VOUCHER_CASES: readonly ErrorCase[] = [...vouchers, ...pages];
