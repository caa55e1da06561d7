import { Client } from "pg";

import {
  CODES,
  codeOf,
  MINIMUM,
  PERCENT_OFF,
  QUANTITIES,
  RACE_CODE,
  RACE_LIMIT,
  UNIT_PRICE,
} from "./cart.ts";
import { post } from "./post.ts";

export const ADMIN = { identifier: "superadmin", password: "peers-admin" };
export const PAYMENT_METHOD = "dummy";

/** More than all rounds and the race need: each operation gets a cart of its own. */
export const CARTS = 20_000;
export const cartToken = (cart: number): string => `peer-cart-${cart}`;

/** What the requests select of each result. */
type Result = {
  readonly id?: string;
  readonly token?: string;
  readonly errorCode?: string;
  readonly message?: string;
  readonly state?: string;
  readonly totalWithTax?: number;
};
type Results = Readonly<Record<string, Result>>;

export type GraphQLRequest = {
  readonly query: string;
  readonly variables?: object;
  /** Of the session: of the administrator, or of a cart. */
  readonly token?: string;
};

/** Creates products, promotions and carts in a new installation. */
export async function prepareShop(url: string, databaseUrl: string): Promise<void> {
  const admin = await logIn(`${url}/admin-api`);
  const variants: string[] = [];
  for (const [index] of QUANTITIES.entries()) variants.push(await createVariant(admin, index));
  for (let index = 0; index < CODES; index += 1) await createPromotion(admin, codeOf(index), null);
  await createPromotion(admin, RACE_CODE, RACE_LIMIT);
  await fillCart(`${url}/shop-api`, variants);
  await copyCart(databaseUrl);
}

export async function send(
  url: string,
  { query, variables = {}, token }: GraphQLRequest,
): Promise<{ readonly data: Results; readonly newToken: string | undefined }> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const { status, body, sessionToken } = await post(
    url,
    headers,
    JSON.stringify({ query, variables }),
  );
  const { data, errors } = JSON.parse(body) as { data?: Results; errors?: unknown };
  if (status !== 200 || errors !== undefined || data === undefined) {
    throw new Error(`Vendure returned ${status}: ${body}`);
  }
  return { data, newToken: sessionToken };
}

/** Sends a request in which no result may be an error. */
async function sendAll(url: string, request: GraphQLRequest) {
  const sent = await send(url, request);
  const error = Object.values(sent.data).find(({ errorCode }) => errorCode !== undefined);
  if (error !== undefined) throw new Error(`Vendure: ${error.errorCode}: ${error.message}`);
  return sent;
}

type Admin = (query: string, input: object) => Promise<Result | undefined>;

async function logIn(url: string): Promise<Admin> {
  const { newToken: token = "" } = await sendAll(url, {
    query: `mutation ($identifier: String!, $password: String!) {
      login(username: $identifier, password: $password) { ${ERROR} }
    }`,
    variables: ADMIN,
  });
  return async (query, input) => {
    const { data } = await sendAll(url, { query, variables: { input }, token });
    const [result] = Object.values(data).flat();
    return result;
  };
}

const ERROR = "... on ErrorResult { errorCode message }";

async function createVariant(admin: Admin, index: number): Promise<string> {
  const name = `Product ${index}`;
  const product = await admin(
    `mutation ($input: CreateProductInput!) { createProduct(input: $input) { id } }`,
    { translations: [{ languageCode: "en", name, slug: `product-${index}`, description: "" }] },
  );
  const variant = await admin(
    `mutation ($input: [CreateProductVariantInput!]!) {
      createProductVariants(input: $input) { id }
    }`,
    [
      {
        productId: product?.id,
        sku: `product-${index}`,
        price: UNIT_PRICE,
        trackInventory: "FALSE",
        translations: [{ languageCode: "en", name }],
      },
    ],
  );
  return variant?.id ?? "";
}

async function createPromotion(
  admin: Admin,
  couponCode: string,
  usageLimit: number | null,
): Promise<void> {
  await admin(
    `mutation ($input: CreatePromotionInput!) { createPromotion(input: $input) { ${ERROR} } }`,
    {
      enabled: true,
      couponCode,
      usageLimit,
      translations: [{ languageCode: "en", name: couponCode }],
      conditions: [
        {
          code: "minimum_order_amount",
          arguments: [
            { name: "amount", value: String(MINIMUM) },
            { name: "taxInclusive", value: "false" },
          ],
        },
      ],
      actions: [
        {
          code: "order_percentage_discount",
          arguments: [{ name: "discount", value: String(PERCENT_OFF) }],
        },
      ],
    },
  );
}

/** A cart with everything that a checkout needs but the coupon and the payment. */
async function fillCart(url: string, variants: readonly string[]): Promise<void> {
  let token: string | undefined;
  for (const [index, quantity] of QUANTITIES.entries()) {
    const added = await sendAll(url, {
      query: `mutation ($variant: ID!, $quantity: Int!) {
        addItemToOrder(productVariantId: $variant, quantity: $quantity) { ${ERROR} }
      }`,
      variables: { variant: variants[index], quantity },
      ...(token !== undefined && { token }),
    });
    token ??= added.newToken;
  }
  if (token === undefined) throw new Error("Vendure returned no session");
  await sendAll(url, {
    query: `mutation {
      setCustomerForOrder(input: { firstName: "A", lastName: "B", emailAddress: "a@example.com" }) { ${ERROR} }
      setOrderShippingAddress(input: { streetLine1: "Street 1", countryCode: "AT" }) { ${ERROR} }
    }`,
    token,
  });
  const { data } = await send(url, { query: `{ eligibleShippingMethods { id } }`, token });
  const [method] = Object.values(data).flat();
  await sendAll(url, {
    query: `mutation ($id: [ID!]!) { setOrderShippingMethod(shippingMethodId: $id) { ${ERROR} } }`,
    variables: { id: [method?.id] },
    token,
  });
}

/**
 * Creates the other carts, each with a session of its own, as copies of the only one. Uses SQL, because calls would take
 * longer than all measurements.
 */
async function copyCart(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (const { table, changes, where = "true" } of COPIES) {
      await client.query(
        `insert into "${table}"
         select copy.*
           from "${table}" as original
          cross join generate_series(1, ${CARTS}) as number
          cross join lateral jsonb_populate_record(original, jsonb_build_object(${changes})) as copy
          where ${where}`,
      );
    }
    for (const table of ["order", "shipping_line", "order_line", "session"]) {
      await client.query(
        `select setval(pg_get_serial_sequence('"${table}"', 'id'), (select max(id) from "${table}"))`,
      );
    }
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
}

const COPIES: readonly { table: string; changes: string; where?: string }[] = [
  { table: "order", changes: "'id', original.id + number, 'code', 'PEER' || number" },
  {
    table: "shipping_line",
    changes: `'id', original.id + number, 'orderId', original."orderId" + number`,
  },
  {
    table: "order_line",
    changes: `'id', original.id + number * ${QUANTITIES.length},
              'orderId', original."orderId" + number,
              'shippingLineId', original."shippingLineId" + number`,
  },
  { table: "order_channels_channel", changes: `'orderId', original."orderId" + number` },
  {
    table: "session",
    changes: `'id', original.id + number, 'token', 'peer-cart-' || number,
              'activeOrderId', original."activeOrderId" + number`,
    where: `original."activeOrderId" is not null`,
  },
];
