import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  type ImportedVoucher,
  ImportedVoucherSchema,
} from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";
import {
  type CreateVoucherRequestSchema,
  VoucherType,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import type { Clients } from "../../clients.ts";
import { resolveCategories } from "../categories.ts";
import { CellFault, type CsvRow } from "../csv-row.ts";
import type { ImportInput, ImportKind } from "../import-kind.ts";

const SHARED_COLUMNS = [
  "code",
  "active",
  "category",
  "redeemed_amount",
  "redeemed_quantity",
  "start_date",
  "expiration_date",
  "additional_info",
] as const;

/** The fields of a voucher that a row sets, without the columns that all files have. */
type OwnValues = Pick<
  Exclude<MessageInitShape<typeof CreateVoucherRequestSchema>, { $typeName: string }>,
  "type" | "discount" | "gift" | "loyaltyCard" | "redemption"
>;

/** Vouchers of a campaign; a row may set points or credits. */
export const campaignVouchers = (clients: Clients): ImportKind<ImportedVoucher> => ({
  ...vouchers,
  send: async (items, { call, input }) => {
    const resolved = await resolveCategories(clients, call("categories"), items);
    const { outcomes } = await clients.campaignImports.importCampaignVouchers(
      {
        campaignId: input.campaignId ?? "",
        items: [...resolved],
        updatesExisting: input.columns !== undefined,
      },
      call("import"),
    );
    return outcomes;
  },
  // The request has announced it already, unless its process ended before.
  begin: async ({ id: importId, call, input: { campaignId = "" } }) => {
    await clients.campaignImports.beginImport({ campaignId, importId }, call("begin"));
  },
  end: async ({ id: importId, call, input: { campaignId = "" } }) => {
    await clients.campaignImports.endImport({ campaignId, importId }, call("end"));
  },
  csv: {
    columns: [...SHARED_COLUMNS, "loyalty_points", "gift_amount"],
    required: ["code"],
    nameOfRow,
    toItem: (row) => {
      const points = row.integer("loyalty_points");
      const amount = row.integer("gift_amount");
      return importedVoucher(row, {
        ...(points !== undefined && { loyaltyCard: { points } }),
        ...(amount !== undefined && { gift: { amount } }),
      });
    },
  },
});

/** Vouchers without a campaign; a row says which type and value they have. */
export const standaloneVouchers = (clients: Clients): ImportKind<ImportedVoucher> => ({
  ...vouchers,
  send: async (items, { call, input }) => {
    const resolved = await resolveCategories(clients, call("categories"), items);
    const { outcomes } = await clients.voucherImports.importVouchers(
      {
        items: [...resolved],
        updatesExisting: input.columns !== undefined,
        sendsWebhooks: input.sendsWebhooks === true,
      },
      call("import"),
    );
    return outcomes;
  },
  csv: {
    columns: [...SHARED_COLUMNS, "voucher_type", "value", "discount_type", "redemption_limit"],
    required: ["code"],
    nameOfRow,
    toItem: (row) => {
      const quantity = row.integer("redemption_limit");
      return importedVoucher(row, {
        ...valueOf(row),
        ...(quantity !== undefined && { redemption: { quantity } }),
      });
    },
  },
});

const vouchers = {
  schema: ImportedVoucherSchema,
  content: "voucher",
  noun: "voucher",
  nameOf: ({ voucher }: ImportedVoucher) => ({ code: voucher?.code ?? null }),
  metadataOf: ({ voucher }: ImportedVoucher, { campaignId }: ImportInput) => ({
    resource: "voucher",
    metadata: voucher?.metadata,
    // The campaign may add the rest.
    isComplete: campaignId === undefined,
  }),
} as const;

const nameOfRow = (row: CsvRow) => ({ code: row.text("code") ?? null });

function importedVoucher(row: CsvRow, own: OwnValues): ImportedVoucher {
  const code = row.text("code");
  if (code === undefined) throw new CellFault("Code: must be present");
  const active = row.boolean("active");
  const category = row.text("category");
  const [startDate, expirationDate] = [row.date("start_date"), row.date("expiration_date")];
  const additionalInfo = row.text("additional_info");
  const metadata = row.metadata("voucher");
  return create(ImportedVoucherSchema, {
    redeemedQuantity: row.integer("redeemed_quantity") ?? 0n,
    redeemedAmount: row.integer("redeemed_amount") ?? 0n,
    setsActive: active !== undefined,
    setsCategory: category !== undefined,
    voucher: {
      ...own,
      code,
      metadata,
      ...(active !== undefined && { active }),
      ...(category !== undefined && { category }),
      ...(startDate !== undefined && { startDate }),
      ...(expirationDate !== undefined && { expirationDate }),
      ...(additionalInfo !== undefined && { additionalInfo }),
    },
  });
}

const TYPES = [
  "DISCOUNT_VOUCHER",
  "GIFT_VOUCHER",
  "LOYALTY_CARD",
  "DISCOUNT",
  "GIFT",
  "LOYALTY",
] as const;

/** Type and value of a voucher, as exports write them. */
function valueOf(row: CsvRow): OwnValues {
  const type = row.oneOf("voucher_type", TYPES);
  switch (type) {
    case "GIFT_VOUCHER":
    case "GIFT":
      return { type: VoucherType.GIFT_VOUCHER, gift: { amount: minorUnits(row) } };
    case "LOYALTY_CARD":
    case "LOYALTY":
      return {
        type: VoucherType.LOYALTY_CARD,
        loyaltyCard: { points: row.integer("value") ?? 0n },
      };
    default:
      return { type: VoucherType.DISCOUNT_VOUCHER, discount: discountOf(row) };
  }
}

function discountOf(row: CsvRow): OwnValues["discount"] {
  const type = row.oneOf("discount_type", ["AMOUNT", "PERCENT", "FIXED"]);
  switch (type) {
    case "AMOUNT":
      return { type: DiscountType.AMOUNT, amountOff: minorUnits(row) };
    case "FIXED":
      return { type: DiscountType.FIXED, fixedAmount: minorUnits(row) };
    case "PERCENT":
      return { type: DiscountType.PERCENT, percentOff: decimal(row) };
    default:
      throw row.fault("discount_type", "AMOUNT, PERCENT or FIXED");
  }
}

/** An integer counts minor units; with two decimals, as exports write it, major units. */
function minorUnits(row: CsvRow): bigint {
  const match = /^(\d{1,13})(?:\.(\d\d))?$/.exec(row.text("value")?.trim() ?? "");
  if (match === null) throw row.fault("value", "an amount");
  const [, whole = "", cents] = match;
  return BigInt(whole + (cents ?? ""));
}

function decimal(row: CsvRow): string {
  const text = row.text("value")?.trim() ?? "";
  if (!/^\d{1,3}(?:\.\d{1,10})?$/.test(text)) throw row.fault("value", "a percentage");
  return text;
}
