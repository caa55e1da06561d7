import { Client } from "pg";

import { type Api, type Body, openApi, type Server } from "./api.ts";
import type { LoadSpec } from "./load-client.ts";

/** Codes to draw from, with the bodies of their requests. */
export type Codes = Pick<LoadSpec, "codes" | "keyed"> & { readonly body?: Body };

/**
 * Kinds of requests: what a shop sends, a customer, an order of three products, an `Idempotency-Key`, on codes with one
 * rule; codes alone; codes with two rules and a customer; and the same with an order.
 */
export const KINDS = ["shop", "plain", "ruled", "ordered"] as const;
export type Kind = (typeof KINDS)[number];

/** The data of side B: one hot code of each kind, and many others. */
export type Fixtures = Readonly<Record<Kind, { readonly hot: Codes; readonly many: Codes }>> & {
  readonly api: Api;
  /** The load of redeeming, or of validating, these codes. */
  load(of: Load): LoadSpec;
  /** Number of redemptions in the database. */
  countRedemptions(): Promise<number>;
};

export type Load = Codes &
  Pick<LoadSpec, "connections" | "seconds"> & {
    readonly action: "redemption" | "validate";
    readonly ratePerSecond?: number;
  };

const DISCOUNT = { type: "PERCENT", percent_off: 10 };
const CUSTOMERS = 1_000;
const PRODUCTS = 50;
const LINES = 3;
/** Limits that no run reaches: no request may be rejected. */
const NO_LIMIT = 1_000_000_000;

export async function createFixtures(
  server: Server,
  databaseUrl: string,
  copies: number,
): Promise<Fixtures> {
  const api = await openApi(server);
  const plain = { name: "BENCH", prefix: "0" };
  const ruled = { name: "RULED", prefix: "1" };
  const ordered = { name: "ORDER", prefix: "2" };
  const shop = { name: "SHOPS", prefix: "3" };
  const count = await createRule(api, "redemption.count.per_customer", {
    $less_than_or_equal: [NO_LIMIT],
  });
  const isGold = await createRule(api, "customer.metadata", { $is: ["gold"] }, "plan");
  const isLarge = await createRule(api, "order.amount", { $more_than_or_equal: [1_000] });
  await createVoucher(api, plain.name, []);
  await createVoucher(api, ruled.name, [count, isGold]);
  await createVoucher(api, ordered.name, [count, isLarge]);
  await createVoucher(api, shop.name, [isLarge]);
  await createProducts(api);
  for (const family of [plain, ruled, ordered, shop]) {
    await copyVoucher(databaseUrl, { ...family, copies });
  }
  const codesOf = ({ name }: Family, more: Omit<Codes, "codes"> = {}) => ({
    hot: { codes: [name], ...more },
    many: { codes: Array.from({ length: copies }, (_, index) => copyOf(name, index + 1)), ...more },
  });
  return {
    api,
    plain: codesOf(plain),
    ruled: codesOf(ruled, { body: requestsOfCustomers(() => ({})) }),
    ordered: codesOf(ordered, { body: requestsOfCustomers(() => ({ order: { amount: 10_000 } })) }),
    shop: codesOf(shop, { body: requestsOfCustomers(orderOfShop), keyed: true }),
    load: ({ action, body = "{}", ratePerSecond = null, ...rest }) => ({
      ...rest,
      ...api.request({ before: "/v1/vouchers/", after: `/${action}` }, body),
      ratePerSecond,
    }),
    countRedemptions: () => countRedemptions(databaseUrl),
  };
}

export function createVoucher(api: Api, code: string, rules: readonly string[]): Promise<string> {
  const voucher = { code, type: "DISCOUNT_VOUCHER", discount: DISCOUNT, validation_rules: rules };
  return api.create("/v1/vouchers", voucher);
}

export const createRule = (
  api: Api,
  name: string,
  conditions: object,
  property?: string,
): Promise<string> =>
  api.create("/v1/validation-rules", {
    name,
    rules: { 1: { name, property, conditions }, logic: "1" },
  });

async function createProducts(api: Api): Promise<void> {
  for (let number = 0; number < PRODUCTS; number += 1) {
    const product = { source_id: productName(number), name: `Product ${number}`, price: 1_000 };
    await api.create("/v1/products", product);
  }
}

const productName = (number: number): string => `bench-product-${String(number).padStart(2, "0")}`;

/** An order without an id of its own, whose lines take name and price from the catalogue. */
const orderOfShop = (customer: number): object => ({
  order: {
    items: Array.from({ length: LINES }, (_, line) => ({
      source_id: productName((customer + line) % PRODUCTS),
      related_object: "product",
      quantity: line + 1,
    })),
  },
});

/** One body per customer with the customer's data, all of the same length. */
const requestsOfCustomers = (more: (customer: number) => object): readonly string[] =>
  Array.from({ length: CUSTOMERS }, (_, index) =>
    JSON.stringify({
      ...more(index),
      customer: {
        source_id: `bench-customer-${String(index).padStart(4, "0")}`,
        metadata: { plan: "gold" },
      },
    }),
  );

/** Codes with one prefix: the first voucher and its copies, whose ids begin with the prefix. */
type Family = { readonly name: string; readonly prefix: string };

export const copyOf = (name: string, number: number): string =>
  `${name}-${String(number).padStart(7, "0")}`;

/**
 * Creates vouchers with the rules of an existing one that differ from it in id and code only. Uses SQL, because
 * 100,000 calls would take longer than all measurements.
 */
export async function copyVoucher(
  databaseUrl: string,
  { name, prefix, copies }: Family & { readonly copies: number },
): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    const values = [name, prefix, copies];
    await client.query(
      `insert into voucher
       select copy.*
         from voucher as original
        cross join generate_series(1, $3::int8) as number
        cross join lateral jsonb_populate_record(original, jsonb_build_object(
                'id', 'v_' || $2 || lpad(to_hex(number), 17, '0'),
                'code', $1 || '-' || lpad(number::text, 7, '0'),
                'code_key', $1 || '-' || lpad(number::text, 7, '0'),
                'asset_id', $1 || number)) as copy
        where original.code = $1`,
      values,
    );
    await client.query(
      `insert into voucher_usage
       select copy.*
         from voucher as original
         join voucher_usage as usage
           on usage.project_id = original.project_id and usage.voucher_id = original.id
        cross join generate_series(1, $3::int8) as number
        cross join lateral jsonb_populate_record(usage, jsonb_build_object(
                'voucher_id', 'v_' || $2 || lpad(to_hex(number), 17, '0'))) as copy
        where original.code = $1`,
      values,
    );
    await client.query(
      `insert into validation.validation_rule_assignment
       select copy.*
         from voucher as original
         join validation.validation_rule_assignment as assignment
           on assignment.project_id = original.project_id and assignment.object_id = original.id
        cross join generate_series(1, $3::int8) as number
        cross join lateral jsonb_populate_record(assignment, jsonb_build_object(
                'id', assignment.id || '_' || number,
                'object_id', 'v_' || $2 || lpad(to_hex(number), 17, '0'))) as copy
        where original.code = $1`,
      values,
    );
    // Only these tables: the others are still empty, and autovacuum analyses them when they have grown.
    await client.query(
      "vacuum analyze voucher, voucher_usage, validation.validation_rule_assignment",
    );
  });
}

async function countRedemptions(databaseUrl: string): Promise<number> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ noted: string; counted: string }>(
      `select (select count(*) from redemption where status = 'SUCCEEDED') as noted,
              (select sum(redeemed_quantity) from voucher_usage) as counted`,
    );
    const { noted, counted } = rows[0] ?? {};
    if (noted !== counted) {
      throw new Error(`${noted} redemptions are noted, but vouchers count ${counted}`);
    }
    return Number(noted);
  });
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, options: "-c search_path=voucher" });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
