import type { JsonObject } from "../../http.ts";
import {
  changes,
  idOf,
  type LoadedItem,
  loadOfParents,
  pick,
  rulesOf,
  type Section,
  toItems,
  updateWithRules,
} from "../section.ts";

export const VALIDITY = [
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

/** The state and the voucher template are changed by other requests or fields. */
const CAMPAIGN_UPDATES = CAMPAIGN.filter((field) => field !== "active" && field !== "voucher");

/** Parts of `voucher` that an update of a campaign accepts, as fields of their own. */
const VOUCHER_UPDATES = ["discount", "gift", "loyalty_card"];

export const campaigns: Section = {
  name: "campaigns",
  fields: CAMPAIGN,
  fixed: ["campaign_type", "use_voucher_metadata_schema"],
  load: async (api) =>
    toItems(await api.listAll("/v1/campaigns"), {
      valueOf: (row) => ({
        ...pick(row, CAMPAIGN),
        ...rulesOf(row),
        ...(row["referral_program"] !== undefined && {
          referral_program: programOf(row["referral_program"] as JsonObject),
        }),
        ...(row["voucher"] !== undefined && { voucher: templateOf(row["voucher"] as JsonObject) }),
      }),
    }),
  create: async (api, { name, value }) => {
    const { active, ...fields } = value;
    // The one voucher of a STANDALONE campaign is made with it.
    const count = fields["type"] === "STANDALONE" ? {} : { vouchers_count: 0 };
    const id = idOf(await api.call("POST", "/v1/campaigns", { name, ...count, ...fields }));
    if (active === false) await api.call("POST", `/v1/campaigns/${id}/disable`, {});
    return id;
  },
  update: async (api, write) => {
    const path = `/v1/campaigns/${write.id}`;
    await updateWithRules(api, write, {
      type: "campaign",
      path,
      bodyOf: (fields) => ({
        ...pick(fields, CAMPAIGN_UPDATES),
        ...pick((fields["voucher"] ?? {}) as JsonObject, VOUCHER_UPDATES),
      }),
    });
    if (write.changed.includes("active"))
      await api.call(
        "POST",
        `${path}/${write.value["active"] === false ? "disable" : "enable"}`,
        {},
      );
  },
  remove: async (api, { id }) => void (await api.call("DELETE", `/v1/campaigns/${id}?force=true`)),
};

/** What the project chose; balances, odds and copies of the campaign's dates are left out. */
function templateOf(voucher: JsonObject): JsonObject {
  const { gift, loyalty_card: card, code_config: code } = voucher as Record<string, JsonObject>;
  return {
    ...pick(voucher, ["type", "code", "discount", "redemption"]),
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

function programOf(program: JsonObject): JsonObject {
  const {
    custom_event: event,
    referee_reward: referee,
    referrer_reward: referrer,
  } = program as Record<string, JsonObject | null>;
  return {
    ...program,
    // Responses have the name of a schema beside its id.
    ...(event && { custom_event: pick(event, [event["id"] === null ? "name" : "id"]) }),
    ...(referee && { referee_reward: withParentId(referee) }),
    ...(referrer && { referrer_reward: withParentId(referrer) }),
  };
}

/** Responses name the campaign of a reward beside its id, and the reward that a tier took it from. */
export const withParentId = ({ reward_id: _id, ...reward }: JsonObject): JsonObject => ({
  ...reward,
  related_object_parent: pick(reward["related_object_parent"] as JsonObject, ["id"]),
});

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
    loadOfParents(ofType("PROMOTION", parents), async ({ id: parent }) =>
      toItems(await api.listAll(`/v1/promotions/${parent}/tiers`), {
        parent,
        valueOf: (row) => ({ ...pick(row, TIER), ...rulesOf(row), action: actionOf(row) }),
      }),
    ),
  create: async (api, { parent, name, value }) =>
    idOf(await api.call("POST", `/v1/promotions/${parent}/tiers`, { name, ...value })),
  update: (api, write) =>
    updateWithRules(api, write, {
      type: "promotion_tier",
      path: `/v1/promotions/tiers/${write.id}`,
    }),
  remove: async (api, { id }) => void (await api.call("DELETE", `/v1/promotions/tiers/${id}`)),
};

/** The campaigns of one type. */
export const ofType = (type: string, parents: readonly LoadedItem[]): readonly LoadedItem[] =>
  parents.filter(({ value }) => value["campaign_type"] === type);

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
    loadOfParents(ofType("PROMOTION", parents), async ({ id: parent }) =>
      toItems(await api.listAll(`/v1/promotions/${parent}/stacks`), {
        parent,
        valueOf: (row) => pick(row, STACK),
      }),
    ),
  create: async (api, { parent, name, value }) =>
    idOf(await api.call("POST", `/v1/promotions/${parent}/stacks`, { name, ...value })),
  update: async (api, write) =>
    void (await api.call(
      "PUT",
      `/v1/promotions/${write.parent}/stacks/${write.id}`,
      changes(write),
    )),
  remove: async (api, { id, parent }) =>
    void (await api.call("DELETE", `/v1/promotions/${parent}/stacks/${id}`)),
};
