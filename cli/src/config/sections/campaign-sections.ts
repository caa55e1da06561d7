import type { JsonObject } from "../../http.ts";
import {
  changeRules,
  changes,
  idOf,
  type LoadedItem,
  loadOfParents,
  pick,
  rulesOf,
  type Section,
  withoutNulls,
} from "../section.ts";

const VALIDITY = [
  "start_date",
  "expiration_date",
  "validity_timeframe",
  "validity_day_of_week",
  "validity_hours",
];

const CAMPAIGN = [
  "campaign_type",
  "type",
  "description",
  "active",
  "join_once",
  "auto_join",
  "use_voucher_metadata_schema",
  ...VALIDITY,
  "activity_duration_after_publishing",
  "category_id",
  "validation_rules",
  "metadata",
  "voucher",
  "referral_program",
  "loyalty_tiers_expiration",
];

/** Parts of `voucher` that an update of a campaign accepts, as fields of their own. */
const VOUCHER_UPDATES = ["discount", "gift", "loyalty_card"];

export const campaigns: Section = {
  name: "campaigns",
  fields: CAMPAIGN,
  fixed: ["campaign_type", "use_voucher_metadata_schema"],
  load: async (api) =>
    (await api.listAll("/v1/campaigns")).map((each) => ({
      id: idOf(each),
      name: String(each["name"]),
      value: {
        ...pick(each, CAMPAIGN),
        ...rulesOf(each),
        ...(each["voucher"] !== undefined && {
          voucher: templateOf(each["voucher"] as JsonObject),
        }),
      },
    })),
  create: async (api, { name, value }) => {
    const { active, ...fields } = value;
    const id = idOf(
      await api.call("POST", "/v1/campaigns", { name, vouchers_count: 0, ...withoutNulls(fields) }),
    );
    if (active === false) await api.call("POST", `/v1/campaigns/${id}/disable`, {});
    return id;
  },
  update: async (api, write) => {
    const path = `/v1/campaigns/${write.id}`;
    const { active, voucher, validation_rules: _, ...fields } = changes(write);
    const body = {
      ...fields,
      ...(voucher !== undefined && pick(voucher as JsonObject, VOUCHER_UPDATES)),
    };
    if (Object.keys(body).length > 0) await api.call("PUT", path, body);
    await changeRules(api, "campaign", write);
    if (active !== undefined)
      await api.call("POST", `${path}/${active === false ? "disable" : "enable"}`, {});
  },
  remove: async (api, { id }) => void (await api.call("DELETE", `/v1/campaigns/${id}?force=true`)),
};

/** What the project chose; balances, odds and copies of the campaign's dates are left out. */
function templateOf(voucher: JsonObject): JsonObject {
  const { gift, loyalty_card: card, code_config: code } = voucher as Record<string, JsonObject>;
  return {
    ...pick(voucher, ["type", "discount", "redemption"]),
    ...(voucher["discount"] !== undefined && {
      discount: withoutSummaries(voucher["discount"] as JsonObject),
    }),
    ...(gift !== undefined && { gift: pick(gift, ["amount", "effect"]) }),
    ...(card !== undefined && { loyalty_card: pick(card, ["points", "expiration_rules"]) }),
    ...(code !== undefined && {
      code_config: pick(code, ["length", "charset", "prefix", "postfix", "pattern"]),
    }),
  };
}

/** Responses describe the product of a unit discount beside its id. */
function withoutSummaries(discount: JsonObject): JsonObject {
  const { product: _product, sku: _sku, units, ...fields } = discount;
  return Array.isArray(units)
    ? { ...fields, units: (units as JsonObject[]).map(withoutSummaries) }
    : fields;
}

const TIER = [
  "active",
  "hierarchy",
  "banner",
  "action",
  ...VALIDITY,
  "category_id",
  "validation_rules",
  "metadata",
];

export const promotionTiers: Section = {
  name: "promotion_tiers",
  parent: "campaigns",
  fields: TIER,
  load: async (api, parents) =>
    loadOfParents(promotionsOf(parents), async ({ id: parent }) =>
      (await api.listAll(`/v1/promotions/${parent}/tiers`)).map((each) => ({
        id: idOf(each),
        name: String(each["name"]),
        parent,
        value: { ...pick(each, TIER), ...rulesOf(each), action: actionOf(each) },
      })),
    ),
  create: async (api, { parent, name, value }) =>
    idOf(
      await api.call("POST", `/v1/promotions/${parent}/tiers`, { name, ...withoutNulls(value) }),
    ),
  update: async (api, write) => {
    const { validation_rules: _, ...body } = changes(write);
    if (Object.keys(body).length > 0)
      await api.call("PUT", `/v1/promotions/tiers/${write.id}`, body);
    await changeRules(api, "promotion_tier", write);
  },
  remove: async (api, { id }) => void (await api.call("DELETE", `/v1/promotions/tiers/${id}`)),
};

const promotionsOf = (parents: readonly LoadedItem[]): readonly LoadedItem[] =>
  parents.filter(({ value }) => value["campaign_type"] === "PROMOTION");

function actionOf(tier: JsonObject): JsonObject {
  const action = tier["action"] as JsonObject;
  return { ...action, discount: withoutSummaries(action["discount"] as JsonObject) };
}

const STACK = ["tiers", "category_id", "metadata"];

export const promotionStacks: Section = {
  name: "promotion_stacks",
  parent: "campaigns",
  fields: STACK,
  load: async (api, parents) =>
    loadOfParents(promotionsOf(parents), async ({ id: parent }) =>
      (await api.listAll(`/v1/promotions/${parent}/stacks`)).map((each) => ({
        id: idOf(each),
        name: String(each["name"]),
        parent,
        value: pick(each, STACK),
      })),
    ),
  create: async (api, { parent, name, value }) =>
    idOf(
      await api.call("POST", `/v1/promotions/${parent}/stacks`, { name, ...withoutNulls(value) }),
    ),
  update: async (api, write) =>
    void (await api.call(
      "PUT",
      `/v1/promotions/${write.parent}/stacks/${write.id}`,
      changes(write),
    )),
  remove: async (api, { id, parent }) =>
    void (await api.call("DELETE", `/v1/promotions/${parent}/stacks/${id}`)),
};
