import { isJsonObject, type JsonObject, rowsOf } from "../../http.ts";
import { changes, idOf, pick, type Section, toItems, type Write } from "../section.ts";

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
  "cancel_pending_points_on_order_cancel",
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
  namesIn: ({ properties }) =>
    Object.values((properties ?? {}) as JsonObject).flatMap((definition) =>
      isJsonObject(definition) && typeof definition["object_type"] === "string"
        ? [`metadata_schemas/${definition["object_type"]}`]
        : [],
    ),
  load: async (api) =>
    toItems(rowsOf(await api.manage("GET", "/metadata-schemas")), {
      nameOf: (row) => row["related_object"],
      valueOf: (row) => ({ ...pick(row, SCHEMA), properties: definitionsOf(row["properties"]) }),
    }),
  create: async (api, { name, value }) =>
    idOf(await api.manage("POST", "/metadata-schemas", { related_object: name, ...value })),
  update: async (api, write) =>
    void (await api.manage("PUT", `/metadata-schemas/${write.id}`, schemaChanges(write))),
  remove: async (api, { id }) => void (await api.manage("DELETE", `/metadata-schemas/${id}`)),
};

export const customEventSchemas: Section = {
  name: "custom_event_schemas",
  fields: ["properties"],
  load: async (api) =>
    toItems(rowsOf(await api.manage("GET", "/custom-event-schemas")), {
      valueOf: (row) => ({
        properties: definitionsOf((row["schema"] as JsonObject)["properties"]),
      }),
    }),
  create: async (api, { name, value }) =>
    idOf(await api.manage("POST", "/custom-event-schemas", { name, schema: value })),
  update: async (api, write) =>
    void (await api.manage("PUT", `/custom-event-schemas/${write.id}`, {
      schema: schemaChanges(write),
    })),
  remove: async (api, { id }) => void (await api.manage("DELETE", `/custom-event-schemas/${id}`)),
};

const definitionsOf = (properties: unknown): JsonObject =>
  Object.fromEntries(
    Object.entries(properties as Readonly<Record<string, JsonObject>>).filter(
      ([, definition]) => definition["deleted"] !== true,
    ),
  );

/** Updates replace the definitions that they name, so those that shall go are marked as deleted. */
function schemaChanges(write: Write): JsonObject {
  const fields = changes(write);
  if (fields["properties"] === undefined) return fields;
  const before = (write.before["properties"] ?? {}) as Readonly<Record<string, JsonObject>>;
  const deleted = Object.entries(before).map(([key, each]) => [key, { ...each, deleted: true }]);
  return {
    ...fields,
    properties: { ...Object.fromEntries(deleted), ...(fields["properties"] as JsonObject | null) },
  };
}

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
    toItems(rowsOf(await api.manage("GET", "/stacking-rules")), {
      nameOf: () => "",
      valueOf: (row) => pick(row, STACKING),
    }),
  create: async (api, { value }) => idOf(await api.manage("POST", "/stacking-rules", value)),
  update: async (api, write) =>
    void (await api.manage("PUT", `/stacking-rules/${write.id}`, changes(write))),
  remove: async (api, { id }) => void (await api.manage("DELETE", `/stacking-rules/${id}`)),
};
