import type { Json } from "../../stack/api.ts";
import type { ErrorCase } from "./error-case.ts";
import type { Shop } from "./shop.ts";

const UNKNOWN_FIELD = { parameters: { fields: ["nothing"] } };

type Target = { readonly params?: Readonly<Record<string, string>>; readonly body?: Json };

const GIFT = { type: "GIFT_VOUCHER", gift: { amount: 100 } };

const program = async (shop: Shop): Promise<Target> => {
  const { id } = await shop.campaign({
    campaign_type: "LOYALTY_PROGRAM",
    voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 0 } },
  });
  return { params: { campaign_id: id } };
};

const TARGETS: Readonly<Record<string, (shop: Shop) => Promise<Target>>> = {
  CreateExport: () => Promise.resolve({ body: { exported_object: "order" } }),
  CreateOrderExport: () => Promise.resolve({}),
  CreatePointsExpirationExport: program,
  CreateLoyaltyTransactionExport: program,
  CreateCampaignTransactionExport: program,
  CreateVoucherTransactionExport: async (shop) => ({
    params: { code: await shop.voucher({ ...GIFT, discount: undefined }) },
  }),
};

/** Requests of exports that cannot be written. */
export const EXPORT_CASES: readonly ErrorCase[] = [
  ...Object.entries(TARGETS).map(([rpc, target]): ErrorCase => ({
    rpc: `ExportService.${rpc}`,
    key: "invalid_export_fields",
    request: async (shop) => {
      const { params, body } = await target(shop);
      return { ...(params !== undefined && { params }), body: { ...body, ...UNKNOWN_FIELD } };
    },
  })),
  {
    rpc: "ExportService.CreateCampaignTransactionExport",
    key: "forbidden",
    request: async (shop) => ({ params: { campaign_id: (await shop.campaign())["id"] }, body: {} }),
  },
  {
    rpc: "ExportService.CreateVoucherTransactionExport",
    key: "forbidden",
    request: async (shop) => ({ params: { code: await shop.voucher() }, body: {} }),
  },
];

/** Requests of imports that are rejected as a whole. */
export const IMPORT_CASES: readonly ErrorCase[] = [
  {
    rpc: "ImportService.ImportCampaignVouchers",
    key: "invalid_campaign",
    request: async (shop) => ({ ...(await promotion(shop)), body: [{ code: "A-CODE" }] }),
  },
  {
    rpc: "ImportService.ImportCampaignVouchersCsv",
    key: "invalid_campaign",
    request: promotion,
  },
  {
    rpc: "ImportService.ImportOrders",
    key: "missing_param",
    request: { body: [{ amount: 1 }] },
  },
  {
    rpc: "ImportService.ImportOrders",
    key: "invalid_order",
    request: { body: [{ source_id: "imported", amount: 1, items: [{ quantity: -1 }] }] },
  },
  ...["ImportCampaignVouchers", "ImportVouchers"].flatMap((rpc): ErrorCase[] => [
    {
      rpc: `ImportService.${rpc}`,
      key: "invalid_voucher",
      request: async (shop) => ({ ...(await coupons(shop)), body: [{ ...GIFT }] }),
    },
    {
      rpc: `ImportService.${rpc}`,
      key: "duplicate_key",
      request: async (shop) => {
        const code = await shop.voucher();
        return { ...(await coupons(shop)), body: [{ ...GIFT, code }] };
      },
    },
  ]),
];

async function promotion(shop: Shop): Promise<Target> {
  const { id } = await shop.campaign({ campaign_type: "PROMOTION", voucher: undefined });
  return { params: { campaign_id: id } };
}

async function coupons(shop: Shop): Promise<Target> {
  const { id } = await shop.campaign();
  return { params: { campaign_id: id } };
}
