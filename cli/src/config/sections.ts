import { encode } from "../commands/arguments.ts";
import type { JsonObject } from "../http.ts";
import { type ProjectApi, rowsOf } from "./project-api.ts";

/** An object as the API returns it. `parent` is the id of the object that it belongs to. */
export type LoadedItem = {
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
  readonly value: JsonObject;
};

/** A write of one object: all values are complete, with ids instead of references. */
export type Write = {
  readonly id: string;
  readonly parent: string;
  readonly name: string;
  /** What the object shall be. */
  readonly value: JsonObject;
  /** What the object is, in the fields that change. */
  readonly before: JsonObject;
  /** The fields that change. */
  readonly changed: readonly string[];
};

/** How one section of the configuration file is read from a project and written to it. */
export type Section = {
  readonly name: string;
  /** One object without a name: the section is the object. */
  readonly single?: boolean;
  /** Section of the objects that contain these: the file has one more level. */
  readonly parent?: string;
  /** Fields in the order of the file. */
  readonly fields: readonly string[];
  /** Fields that cannot change after creation. */
  readonly fixed?: readonly string[];
  /** The name is the name of an object of this section, not a name of its own. */
  readonly namedBy?: string;
  load(api: ProjectApi, parents: readonly LoadedItem[]): Promise<readonly LoadedItem[]>;
  create?(api: ProjectApi, write: Write): Promise<string>;
  update?(api: ProjectApi, write: Write): Promise<void>;
  remove?(api: ProjectApi, item: { readonly id: string; readonly parent: string }): Promise<void>;
};

const pick = (source: JsonObject, fields: readonly string[]): JsonObject =>
  Object.fromEntries(
    fields.filter((field) => source[field] !== undefined).map((field) => [field, source[field]]),
  );

const changes = ({ value, before, changed }: Write): JsonObject =>
  Object.fromEntries(
    changed.map((field) => [
      field,
      field === "metadata" ? metadataChange(value[field], before[field]) : (value[field] ?? null),
    ]),
  );

/** Updates merge metadata key by key, so keys that shall go are sent as null. */
const metadataChange = (value: unknown, before: unknown): JsonObject => ({
  ...Object.fromEntries(Object.keys((before ?? {}) as JsonObject).map((key) => [key, null])),
  ...((value ?? {}) as JsonObject),
});

const idOf = (created: JsonObject): string => String(created["id"]);

/** Rules attached to an object, as the file lists them: ids of validation rules. */
function rulesOf(source: JsonObject): JsonObject {
  const list = source["validation_rules_assignments"] as JsonObject | undefined;
  const rules = ((list?.["data"] ?? []) as JsonObject[]).map((each) => each["rule_id"]);
  return rules.length > 0 ? { validation_rules: rules } : {};
}

async function changeRules(api: ProjectApi, type: string, write: Write): Promise<void> {
  if (!write.changed.includes("validation_rules")) return;
  const wanted = (write.value["validation_rules"] ?? []) as string[];
  const present = rowsOf(
    await api.call("GET", `/v1/validation-rules-assignments?related_object_id=${encode(write.id)}`),
  );
  // The new rule first: the object never exists without any.
  for (const rule of wanted.filter((id) => !present.some((each) => each["rule_id"] === id))) {
    await api.call("POST", `/v1/validation-rules/${encode(rule)}/assignments`, {
      related_object_id: write.id,
      related_object_type: type,
    });
  }
  for (const each of present.filter((row) => !wanted.includes(String(row["rule_id"])))) {
    const rule = encode(String(each["rule_id"]));
    await api.call("DELETE", `/v1/validation-rules/${rule}/assignments/${idOf(each)}`);
  }
}

const SETTINGS = [
  "timezone",
  "currency",
  "dial_code",
  "first_weekday",
  "default_code_config",
  "client_trusted_domains",
  "client_redeem_enabled",
  "client_publish_enabled",
  "client_list_vouchers_enabled",
  "client_create_customer_enabled",
  "client_loyalty_events_enabled",
  "client_set_voucher_expiration_date_enabled",
];

const settings: Section = {
  name: "settings",
  single: true,
  fields: SETTINGS,
  load: async (api) => {
    const project = await api.manage("GET", "");
    return [{ id: api.id, name: "", value: pick(project, SETTINGS) }];
  },
  update: async (api, write) => void (await api.manage("PUT", "", changes(write))),
};

const SCHEMA = ["allow_defined_only", "properties"];

const metadataSchemas: Section = {
  name: "metadata_schemas",
  fields: SCHEMA,
  load: async (api) => {
    const schemas = rowsOf(await api.manage("GET", "/metadata-schemas?limit=100"));
    return schemas.map((each) => ({
      id: idOf(each),
      name: String(each["related_object"]),
      value: pick(each, SCHEMA),
    }));
  },
  create: async (api, { name, value }) =>
    idOf(await api.manage("POST", "/metadata-schemas", { related_object: name, ...value })),
  update: async (api, write) =>
    void (await api.manage("PUT", `/metadata-schemas/${write.id}`, changes(write))),
  remove: async (api, { id }) => void (await api.manage("DELETE", `/metadata-schemas/${id}`)),
};

type Resource = {
  readonly name: string;
  readonly path: string;
  readonly fields: readonly string[];
  readonly fixed?: readonly string[];
};

/** A section whose objects have a name and the usual five endpoints. */
const resource = ({ name, path, fields, fixed }: Resource): Section => ({
  name,
  fields,
  ...(fixed && { fixed }),
  load: async (api) =>
    (await api.listAll(path)).map((each) => ({
      id: idOf(each),
      name: String(each["name"]),
      value: pick(each, fields),
    })),
  create: async (api, write) =>
    idOf(await api.call("POST", path, { name: write.name, ...write.value })),
  update: async (api, write) =>
    void (await api.call("PUT", `${path}/${write.id}`, { name: write.name, ...changes(write) })),
  remove: async (api, { id }) => void (await api.call("DELETE", `${path}/${id}`)),
});

const categories = resource({
  name: "categories",
  path: "/v1/categories",
  fields: ["hierarchy"],
});

/** Segments and collections cannot be updated: a changed one needs a new name. */
const segments = resource({
  name: "segments",
  path: "/v1/segments",
  fields: ["type", "filter"],
  fixed: ["type", "filter"],
});

const collections = resource({
  name: "product_collections",
  path: "/v1/product-collections",
  fields: ["type", "filter", "products"],
  fixed: ["type", "filter", "products"],
});

const validationRules = resource({
  name: "validation_rules",
  path: "/v1/validation-rules",
  fields: ["type", "context_type", "rules", "bundle_rules", "error", "applicable_to"],
});

const rewards = resource({
  name: "rewards",
  path: "/v1/rewards",
  fields: ["type", "parameters", "stock", "attributes", "metadata"],
  fixed: ["type"],
});

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

const campaigns: Section = {
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

const withoutNulls = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

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

const promotionTiers: Section = {
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

const promotionStacks: Section = {
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

const ASSIGNMENT = ["parameters", "validation_rules"];

const rewardAssignments: Section = {
  name: "reward_assignments",
  parent: "rewards",
  namedBy: "campaigns",
  fields: ASSIGNMENT,
  load: async (api, parents) =>
    loadOfParents(parents, async ({ id: parent }) =>
      (await api.listAll(`/v1/rewards/${parent}/assignments`)).map((each) => ({
        id: idOf(each),
        name: String(each["related_object_id"]),
        parent,
        value: { ...pick(each, ASSIGNMENT), ...rulesOf(each) },
      })),
    ),
  create: async (api, { parent, name, value }) =>
    idOf(
      await api.call("POST", `/v1/rewards/${parent}/assignments`, {
        campaign: name,
        ...withoutNulls(value),
      }),
    ),
  update: async (api, write) => {
    const { validation_rules: _, ...body } = changes(write);
    if (Object.keys(body).length > 0)
      await api.call("PUT", `/v1/rewards/${write.parent}/assignments/${write.id}`, body);
    await changeRules(api, "reward_assignment", write);
  },
  remove: async (api, { id, parent }) =>
    void (await api.call("DELETE", `/v1/rewards/${parent}/assignments/${id}`)),
};

const STACKING = [
  "redeemables_limit",
  "applicable_redeemables_limit",
  "applicable_redeemables_per_category_limit",
  "applicable_redeemables_category_limits",
  "applicable_exclusive_redeemables_limit",
  "applicable_exclusive_redeemables_per_category_limit",
  "exclusive_categories",
  "joint_categories",
  "redeemables_application_mode",
  "redeemables_sorting_rule",
  "redeemables_products_application_mode",
  "redeemables_no_effect_rule",
  "no_effect_skip_categories",
  "no_effect_redeem_anyway_categories",
  "redeemables_rollback_order_mode",
  "grouped_redeemables_sorting_rule",
  "discount_calculation_mode",
  "initial_amount_mode_categories",
  "discounted_amount_mode_categories",
];

const stackingRules: Section = {
  name: "stacking_rules",
  single: true,
  fields: STACKING,
  load: async (api) =>
    rowsOf(await api.manage("GET", "/stacking-rules")).map((each) => ({
      id: idOf(each),
      name: "",
      value: pick(each, STACKING),
    })),
  create: async (api, { value }) => idOf(await api.manage("POST", "/stacking-rules", value)),
  update: async (api, write) =>
    void (await api.manage("PUT", `/stacking-rules/${write.id}`, changes(write))),
  remove: async (api, { id }) => void (await api.manage("DELETE", `/stacking-rules/${id}`)),
};

async function loadOfParents(
  parents: readonly LoadedItem[],
  load: (parent: LoadedItem) => Promise<readonly LoadedItem[]>,
): Promise<readonly LoadedItem[]> {
  const items: LoadedItem[] = [];
  for (const parent of parents) items.push(...(await load(parent)));
  return items;
}

/** In the order of the file; changes follow the references between objects. */
export const SECTIONS: readonly Section[] = [
  settings,
  metadataSchemas,
  categories,
  segments,
  collections,
  validationRules,
  campaigns,
  promotionTiers,
  promotionStacks,
  rewards,
  rewardAssignments,
  stackingRules,
];
