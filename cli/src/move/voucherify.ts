import { isJsonObject } from "../http.ts";
import {
  amountOf,
  booleanOf,
  dateOf,
  dayOf,
  faultOf,
  integerOf,
  needColumn,
  textOf,
} from "./cells.ts";
import { sumOfLots } from "./expirations.ts";
import { type MovedItem, type MovedKind, RowFault } from "./moved-item.ts";
import type { TableRow } from "./table.ts";

const TYPES: Readonly<Record<string, string>> = {
  DISCOUNT_VOUCHER: "DISCOUNT_VOUCHER",
  DISCOUNT: "DISCOUNT_VOUCHER",
  COUPON: "DISCOUNT_VOUCHER",
  GIFT_VOUCHER: "GIFT_VOUCHER",
  GIFT: "GIFT_VOUCHER",
  GIFT_CARD: "GIFT_VOUCHER",
  LOYALTY_CARD: "LOYALTY_CARD",
  LOYALTY: "LOYALTY_CARD",
};

const DISCOUNT_TYPES = new Set(["AMOUNT", "PERCENT", "FIXED"]);

const CUSTOMER_FIELDS = ["name", "email", "phone", "birthdate", "description"] as const;
const ADDRESS_FIELDS = {
  address_line_1: "line_1",
  address_line_2: "line_2",
  address_postal_code: "postal_code",
  address_city: "city",
  address_state: "state",
  address_country: "country",
} as const;
const COMPARED_CUSTOMER_FIELDS = [...CUSTOMER_FIELDS, ...Object.keys(ADDRESS_FIELDS)];

/** Customers without a source id are identified by the id of the leading system. */
const customerKey = (row: TableRow, prefix = ""): string =>
  textOf(row, `${prefix}source_id`) || textOf(row, `${prefix}id`);

export function customerOf(row: TableRow): MovedItem {
  needColumn(row, "Source ID", ["source_id", "id"]);
  const key = customerKey(row);
  if (key === "") throw new RowFault("the customer has neither Source ID nor ID");
  const present = COMPARED_CUSTOMER_FIELDS.map((field): [string, string] => [
    field,
    field === "birthdate" ? dayOf(row, field) : textOf(row, field),
  ]).filter(([, text]) => text !== "");
  const values = Object.fromEntries(present);
  const address = Object.entries(ADDRESS_FIELDS)
    .map(([column, field]) => [field, values[column]] as const)
    .filter(([, text]) => text !== undefined);
  const metadata = metadataOf(row);
  return {
    key,
    id: textOf(row, "id"),
    values,
    campaign: "",
    metadata,
    content: {
      source_id: key,
      ...Object.fromEntries(
        CUSTOMER_FIELDS.flatMap((field) => {
          const text = values[field];
          return text === undefined ? [] : [[field, text]];
        }),
      ),
      ...(address.length > 0 && { address: Object.fromEntries(address) }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
    },
  };
}

type Defaults = { readonly type?: string; readonly campaign?: string };

export function voucherOf(row: TableRow, defaults: Defaults = {}): MovedItem {
  needColumn(row, "Code", ["code"]);
  if (defaults.type === undefined) needColumn(row, "Voucher Type", ["voucher_type"]);
  const code = textOf(row, "code");
  if (code === "") throw new RowFault("Code is empty");
  const named = textOf(row, "voucher_type") || (defaults.type ?? "");
  const type = TYPES[named.toUpperCase().replaceAll(" ", "_")];
  if (type === undefined) throw new RowFault(`Voucher Type "${named}" is unknown`);
  const campaign = textOf(row, "campaign") || (defaults.campaign ?? "");
  const own = ownCells(row, type, campaign);
  const active = booleanOf(row, "active");
  const redemptions = integerOf(row, "redemption_count");
  const [start, expiration] = [dateOf(row, "start_date"), dateOf(row, "expiration_date")];
  return {
    key: code,
    id: textOf(row, "id"),
    campaign,
    metadata: metadataOf(row),
    values: present({
      type,
      campaign,
      balance: own.balance,
      active,
      redemptions,
      redemption_limit: integerOf(row, "redemption_quantity"),
      discount: type === "DISCOUNT_VOUCHER" ? discountIn(row.cells) : "",
      start_date: start,
      expiration_date: expiration,
      holder: customerKey(row, "customer_"),
    }),
    content: present({
      Code: code,
      Active: active,
      Category: textOf(row, "category"),
      "Redeemed Quantity": redemptions,
      "Start Date": start,
      "Expiration Date": expiration,
      "Additional Info": textOf(row, "additional_info"),
      ...own.cells,
    }),
  };
}

/** In the form in which both sides are compared, such as `AMOUNT 10.00`; other discounts are not compared. */
function discountIn(cells: ReadonlyMap<string, string>): string {
  const type = (cells.get("discount_type") ?? "").toUpperCase();
  const value = cells.get("value") ?? "";
  if (!DISCOUNT_TYPES.has(type) || !/^\d{1,13}(?:\.\d+)?$/.test(value)) return "";
  if (type === "PERCENT") return `${type} ${Number(value)}`;
  return `${type} ${(value.includes(".") ? Number(value) : Number(value) / 100).toFixed(2)}`;
}

type OwnCells = {
  readonly balance: string;
  readonly cells: Readonly<Record<string, string>>;
};

/** The cells that depend on the type. */
function ownCells(row: TableRow, type: string, campaign: string): OwnCells {
  if (type === "GIFT_VOUCHER") {
    const value = amountOf(row, "value");
    const balance = amountOf(row, "gift_balance") ?? value;
    if (balance === undefined) throw new RowFault("a gift voucher needs Gift Balance or Value");
    // Credits that were added later are in the balance, but not in the value.
    const amount = value === undefined || value < balance ? balance : value;
    const redeemed = { "Redeemed Amount": String(amount - balance) };
    return {
      balance: String(balance),
      cells:
        campaign === ""
          ? { "Voucher Type": type, Value: String(amount), ...redeemed }
          : { "Gift Amount": String(amount), ...redeemed },
    };
  }
  if (type === "LOYALTY_CARD") {
    if (campaign === "") throw new RowFault("a loyalty card needs a campaign");
    const points = integerOf(row, "loyalty_balance") || integerOf(row, "value");
    if (points === "") throw new RowFault("a loyalty card needs Loyalty Balance or Value");
    return { balance: points, cells: { "Loyalty Points": points } };
  }
  if (campaign !== "") return { balance: "", cells: {} };
  const discount = textOf(row, "discount_type").toUpperCase();
  if (!DISCOUNT_TYPES.has(discount)) {
    throw new RowFault(`Discount Type "${discount}" cannot be imported without a campaign`);
  }
  return {
    balance: "",
    cells: present({
      "Voucher Type": type,
      "Discount Type": discount,
      Value: textOf(row, "value"),
      "Redemption Limit": integerOf(row, "redemption_quantity"),
    }),
  };
}

const present = (values: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(values).filter(([, text]) => text !== ""));

/** One column with JSON, or one column for each key. */
function metadataOf(row: TableRow): Readonly<Record<string, unknown>> {
  const text = textOf(row, "metadata");
  if (text === "") return row.metadata;
  try {
    const parsed: unknown = JSON.parse(text);
    if (isJsonObject(parsed)) return { ...parsed, ...row.metadata };
  } catch {
    // Reported like other values that are not an object.
  }
  throw faultOf("Metadata", text, "a JSON object");
}

/** Exports put an apostrophe in front of text that a spreadsheet would run. */
const unguarded = (text: string): string => (/^'[=+\-@]/.test(text) ? text.slice(1) : text);

const unguardedCells = (cells: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...cells].map(([column, text]) => [column, unguarded(text)]));

export const CUSTOMERS: MovedKind = {
  noun: "customer",
  exported: { object: "customer", fields: ["source_id", ...COMPARED_CUSTOMER_FIELDS] },
  storedOf: (exported) => {
    const cells = unguardedCells(exported);
    const values = COMPARED_CUSTOMER_FIELDS.map((field) => [field, cells.get(field) ?? ""]);
    return { key: cells.get("source_id") ?? "", id: "", values: Object.fromEntries(values) };
  },
  figuresOf: () => new Map([["customers", 1n]]),
};

const LABELS: Readonly<Record<string, string>> = {
  DISCOUNT_VOUCHER: "discount vouchers",
  GIFT_VOUCHER: "gift vouchers",
  LOYALTY_CARD: "loyalty cards",
};

export const VOUCHERS: MovedKind = {
  noun: "voucher",
  exported: {
    object: "voucher",
    fields: [
      "code",
      "id",
      "voucher_type",
      "value",
      "discount_type",
      "campaign",
      "gift_balance",
      "loyalty_balance",
      "redemption_count",
      "redemption_quantity",
      "active",
      "start_date",
      "expiration_date",
      "customer_source_id",
    ],
  },
  storedOf: (exported) => {
    const cells = unguardedCells(exported);
    const cell = (column: string): string => cells.get(column) ?? "";
    return {
      key: cell("code"),
      id: cell("id"),
      values: {
        type: cell("voucher_type"),
        campaign: cell("campaign"),
        balance: cell("gift_balance") || cell("loyalty_balance"),
        active: cell("active"),
        redemptions: cell("redemption_count"),
        redemption_limit: cell("redemption_quantity"),
        discount: discountIn(cells),
        start_date: cell("start_date"),
        expiration_date: cell("expiration_date"),
        holder: cell("customer_source_id"),
      },
    };
  },
  figuresOf: ({ type = "", balance, redemptions, holder, expirations }) => {
    const unit = type === "GIFT_VOUCHER" ? "credits (minor units)" : "points";
    return new Map([
      [LABELS[type] ?? type, 1n],
      ...(balance ? [[unit, BigInt(balance)] as const] : []),
      ...(expirations ? [["points that expire", sumOfLots(expirations)] as const] : []),
      ["redemptions", BigInt(redemptions || 0)],
      ["vouchers with a holder", holder ? 1n : 0n],
    ]);
  },
};
