import { resource } from "../section.ts";

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

export const validationRules = resource({
  name: "validation_rules",
  path: "/v1/validation-rules",
  fields: ["type", "context_type", "rules", "bundle_rules", "error", "applicable_to"],
});
