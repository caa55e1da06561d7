import { Client } from "pg";

import { type Api, type Json, newCode } from "./api.ts";
import { ok } from "./rule-builders.ts";

export const percent = (value: number, more: Json = {}): Json => ({
  type: "PERCENT",
  percent_off: value,
  ...more,
});

/** The rules of a validation rule with one condition. */
export const when = (name: string, conditions: Json, more: Json = {}): Json => ({
  rules: { "1": { name, conditions, ...more } },
});

/** Limits a validation rule to one product. */
export const appliesOnlyTo = (product: Json): Json => ({
  applicable_to: { included: [{ object: "product", id: product["id"] }] },
});

/** Creates vouchers, tiers, stacks and products for qualification tests, each with a unique name. */
export function qualificationBuilders(api: Api) {
  const names = new Map<string, string>();

  const rulesOf = (rules: readonly Json[]): Promise<string[]> =>
    Promise.all(
      rules.map(async (rule) => {
        const body = { name: newCode("rule"), rules: {}, ...rule };
        return (await ok(api.post("/v1/validation-rules", body)))["id"] as string;
      }),
    );

  const voucher = async (code: string, body: Json = {}, ...rules: Json[]): Promise<Json> => {
    const created = {
      type: "DISCOUNT_VOUCHER",
      ...(body["gift"] ? {} : { discount: percent(10) }),
    };
    const validation_rules = await rulesOf(rules);
    return ok(api.post(`/v1/vouchers/${code}`, { ...created, ...body, validation_rules }));
  };

  const promotion = (): Promise<Json> =>
    ok(api.post("/v1/campaigns", { name: newCode("promo"), campaign_type: "PROMOTION" }));

  const tier = async (name: string, body: Json = {}, ...rules: Json[]): Promise<Json> => {
    const { campaign = (await promotion())["id"], discount = percent(5), ...more } = body;
    const created = await ok(
      api.post(`/v1/promotions/${campaign}/tiers`, {
        name,
        action: { discount },
        validation_rules: await rulesOf(rules),
        ...more,
      }),
    );
    names.set(created["id"], name);
    return created;
  };

  const stack = async (name: string, campaign: string, ids: readonly string[]): Promise<Json> => {
    const body = { name, tiers: { ids } };
    const created = await ok(api.post(`/v1/promotions/${campaign}/stacks`, body));
    names.set(created["id"], name);
    return created;
  };

  const qualify = (body: Json = {}): Promise<Json> => ok(api.post("/v1/qualifications", body));
  const nameOf = ({ id }: Json): string => names.get(id) ?? id;

  return {
    voucher,
    promotion,
    tier,
    stack,
    qualify,
    nameOf,
    gift: (code: string, amount: number, body: Json = {}): Promise<Json> =>
      voucher(code, { type: "GIFT_VOUCHER", gift: { amount }, ...body }),
    publish: (code: string, customer: string): Promise<Json> =>
      ok(api.post("/v1/publications", { voucher: code, customer: { source_id: customer } })),
    product: (name: string, price: number): Promise<Json> =>
      ok(api.post("/v1/products", { name, source_id: newCode(name), price })),
    /** Names of the qualified redeemables, in order. */
    names: async (body: Json = {}): Promise<string[]> => {
      const options = { limit: 50, ...body["options"] };
      return (await qualify({ ...body, options }))["redeemables"].data.map(nameOf);
    },
  };
}

export type QualificationBuilders = ReturnType<typeof qualificationBuilders>;

/** Inserts exhausted vouchers newer than all others by SQL: too many to create over HTTP. */
export async function insertExhaustedVouchers(
  url: string,
  projectId: string,
  count: number,
): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const id = "'v_' || lpad(to_hex(n), 18, '0')";
    await client.query(
      `insert into voucher.voucher (project_id, id, code, code_key, type, discount, metadata,
              asset_id, is_referral_code, created_at, definition_version)
       select $1, ${id}, 'USED' || n, 'USED' || n, 'DISCOUNT_VOUCHER',
              '{"type": "PERCENT", "percent_off": "10"}', '{}', 'a', false,
              now() + n * interval '1 ms', 1
         from generate_series(1, $2::int) n`,
      [projectId, count],
    );
    await client.query(
      `insert into voucher.voucher_usage (project_id, voucher_id, definition_version, quantity,
              redeemed_quantity)
       select $1, ${id}, 1, 1, 1 from generate_series(1, $2::int) n`,
      [projectId, count],
    );
  } finally {
    await client.end();
  }
}
