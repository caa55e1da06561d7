import { isJsonObject, type JsonObject } from "../../http.ts";
import { resource, type Section } from "../section.ts";

export const categories = resource({
  name: "categories",
  path: "/v1/categories",
  fields: ["hierarchy"],
});

/** Segments and collections cannot be updated: a changed one needs a new name. */
export const segments = resource({
  name: "segments",
  path: "/v1/segments",
  fields: ["type", "filter"],
  fixed: ["type", "filter"],
});

export const collections = resource({
  name: "product_collections",
  path: "/v1/product-collections",
  fields: ["type", "filter", "products"],
  fixed: ["type", "filter", "products"],
});

export const validationRules: Section = {
  ...resource({
    name: "validation_rules",
    path: "/v1/validation-rules",
    fields: ["type", "context_type", "rules", "bundle_rules", "error", "applicable_to"],
  }),
  normalize: withEffects,
};

/** Entries of a scope without an effect apply to every item, and are returned so. */
function withEffects(rule: JsonObject): JsonObject {
  const { applicable_to: scope } = rule;
  if (!isJsonObject(scope)) return rule;
  const lists = Object.entries(scope).map(([name, entries]) => [
    name,
    Array.isArray(entries) ? entries.map(withEffect) : entries,
  ]);
  return { ...rule, applicable_to: Object.fromEntries(lists) };
}

const withEffect = (entry: unknown): unknown =>
  isJsonObject(entry) ? { effect: "APPLY_TO_EVERY", ...entry } : entry;
