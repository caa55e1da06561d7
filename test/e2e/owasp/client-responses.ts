import type { Binding } from "@scrip/contract";

import {
  type Api,
  type Json,
  managementApi,
  newCode,
  newProject,
  type StackAccess,
} from "../../stack/api.ts";
import { ok, orderAbove, TEN_PERCENT } from "../../stack/rule-builders.ts";
import { isObject } from "./fields.ts";

/** Data of customers and of the merchant. No client-side response contains one of these. */
export const SECRETS = {
  name: "Ada Secretname",
  email: "ada.secret@shop.example",
  phone: "+48 600 123 987",
  line_1: "Secret Street 7",
  note: "secret note of the merchant",
} as const;

const ORDER = { amount: 10_000 };

/** A project whose objects have all that a response may contain, and a request for each client-side route. */
export async function createClientRequests(stack: StackAccess) {
  const features = {
    client_trusted_domains: ["*"],
    client_redeem_enabled: true,
    client_publish_enabled: true,
    client_list_vouchers_enabled: true,
    client_create_customer_enabled: true,
    client_loyalty_events_enabled: true,
  };
  const { id, api, clientSide } = await newProject(stack, features);
  const post = (path: string, body: Json): Promise<Json> => ok(api.post(path, body));
  const source = newCode("ada");
  const { name, email, phone, line_1, note } = SECRETS;
  await post("/v1/customers", {
    source_id: source,
    name,
    email,
    phone,
    address: { line_1 },
    description: note,
    metadata: { note },
  });
  const rule = await post("/v1/validation-rules", { name: "Orders", rules: orderAbove(10) });
  const category = newCode("category");
  const campaign = await post("/v1/campaigns", {
    name: newCode("campaign"),
    campaign_type: "DISCOUNT_COUPONS",
    description: note,
    category,
    metadata: { note },
    voucher: { type: "DISCOUNT_VOUCHER", discount: TEN_PERCENT },
  });
  const code = newCode("CLIENT");
  await post(`/v1/campaigns/${campaign["id"]}/vouchers/${code}`, {});
  await post(`/v1/validation-rules/${rule["id"]}/assignments`, { voucher: code });
  await post("/v1/publications", { voucher: code, customer: { source_id: source } });
  await post("/v1/redemptions", {
    redeemables: [{ object: "voucher", id: code }],
    customer: { source_id: source },
    order: ORDER,
  });
  const spare = newCode("SPARE");
  await post("/v1/vouchers", { code: spare, type: "GIFT_VOUCHER", gift: { amount: 5_000 } });
  await post("/v1/campaigns", {
    name: newCode("promotion"),
    campaign_type: "PROMOTION",
    promotion: {
      tiers: [{ name: "Tier", banner: "5 % off", action: { discount: TEN_PERCENT }, category }],
    },
  });
  await ok(
    managementApi(stack).post(`/management/v1/projects/${id}/custom-event-schemas`, {
      name: "visited",
    }),
  );
  const redeemables = [{ object: "voucher", id: code }];
  const customer = { source_id: source };
  const decision = { order: ORDER, customer };
  const stacked = { ...decision, redeemables };
  const all = { options: { expand: ["redeemable", "category", "validation_rules"] } };
  const order = { amount: ORDER.amount, items: [{ quantity: 1, price: 10_000 }] };
  const requests: Readonly<Record<string, { readonly query?: string; readonly body?: Json }>> = {
    "GET /client/v1/vouchers": { query: `customer=${source}` },
    "GET /client/v1/promotions/tiers": {},
    "GET /client/v1/validate": { query: `code=${code}&amount=10000&customer[source_id]=${source}` },
    "GET /client/v1/promotions/validation": { query: `order[amount]=10000` },
    "POST /client/v1/validations": { body: stacked },
    "POST /client/v1/promotions/validation": { body: { ...decision, order } },
    "POST /client/v1/qualifications": { body: { scenario: "ALL", ...decision, ...all } },
    "POST /client/v1/publish": { body: { voucher: spare, customer } },
    "POST /client/v1/customers": { body: customer },
    "POST /client/v1/events": { body: { event: "visited", customer } },
    "POST /client/v1/redeem": { query: `code=${code}`, body: decision },
    "POST /client/v1/redemptions": { body: { ...stacked, order } },
  };
  const client: Api = await clientSide();
  return async ({
    httpMethod,
    path,
  }: Binding): Promise<{ readonly text: string; readonly body: Json }> => {
    const request = requests[`${httpMethod} ${path}`];
    if (request === undefined) throw new Error(`no request of ${httpMethod} ${path}`);
    const target = `${path}${request.query === undefined ? "" : `?${request.query}`}`;
    const response = await (httpMethod === "GET"
      ? client.get(target)
      : client.post(target, request.body));
    if (response.status !== 200) throw new Error(`${httpMethod} ${path}: ${response.text}`);
    return response;
  };
}

const OWN_ID = /^[a-z]+_[0-9a-f]{18}$/;

/** `order.items[].price` for each value of a document. */
export function fieldNamesIn(value: unknown, name = ""): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each) => fieldNamesIn(each, `${name}[]`));
  if (!isObject(value) || Object.keys(value).length === 0) return [name];
  return Object.entries(value).flatMap(([key, each]) => {
    const part = OWN_ID.test(key) ? "{id}" : key;
    return fieldNamesIn(each, name === "" ? part : `${name}.${part}`);
  });
}
