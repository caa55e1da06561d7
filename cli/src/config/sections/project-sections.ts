import { rowsOf } from "../../http.ts";
import { changes, idOf, pick, type Section } from "../section.ts";

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

export const settings: Section = {
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

export const metadataSchemas: Section = {
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

export const stackingRules: Section = {
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
