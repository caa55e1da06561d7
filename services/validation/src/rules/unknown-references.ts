import { ApiError } from "@scrip/errors";
import { type Call, chunksOf } from "@scrip/rpc";
import type { ValidationRule } from "@scrip/rules";

import type { Deps } from "../deps.ts";
import { type RuleReference, referencesOf } from "../domain/catalogue/rule-references.ts";
import { findCollections } from "../store/collections.ts";

/** Maximum number of segments on a page of the loyalty service. */
const MAX_SEGMENTS = 100;

/** Rejects a rule that names products, SKUs, collections or segments that do not exist. */
export async function rejectUnknownReferences(
  deps: Pick<Deps, "db" | "findInCatalogue" | "clients">,
  call: Call,
  rule: ValidationRule,
): Promise<void> {
  const references = referencesOf(rule);
  if (references.length === 0) return;
  const exists = await loadExisting(deps, call, references);
  const unknown = references.find((reference) => !exists(reference));
  if (unknown === undefined) return;
  const { path, object, id } = unknown;
  throw new ApiError("invalid_validation_rules", {
    details: `${path}: no ${object === "product_or_sku" ? "product or sku" : object} '${id}'`,
  });
}

/** One lookup per kind of object. */
async function loadExisting(
  deps: Pick<Deps, "db" | "findInCatalogue" | "clients">,
  call: Call,
  references: readonly RuleReference[],
): Promise<(reference: RuleReference) => boolean> {
  const projectId = call.project.id;
  const idsOf = (...objects: readonly RuleReference["object"][]): string[] => [
    ...new Set(references.flatMap(({ object, id }) => (objects.includes(object) ? id : []))),
  ];
  const [products, skus] = [idsOf("product", "product_or_sku"), idsOf("sku", "product_or_sku")];
  const collectionIds = idsOf("products_collection");
  const [catalogue, collections, segments] = await Promise.all([
    products.length + skus.length === 0
      ? undefined
      : deps.findInCatalogue({ projectId, products, skus }),
    // Not from the cache: another process may have just created the collection.
    collectionIds.length === 0
      ? []
      : findCollections(
          deps.db,
          collectionIds.map((key) => ({ projectId, key })),
        ),
    existingSegments(deps, call, idsOf("segment")),
  ]);
  const known = new Set([...collections.flatMap((each) => each?.id ?? []), ...segments]);
  return ({ object, id }) => {
    const product = catalogue?.product(id);
    const sku = catalogue?.sku(id);
    switch (object) {
      case "product":
        return product !== undefined;
      case "sku":
        return sku !== undefined;
      case "product_or_sku":
        return (product ?? sku) !== undefined;
      case "products_collection":
      case "segment":
        return known.has(id);
      default:
        return object satisfies never;
    }
  };
}

async function existingSegments(
  { clients }: Pick<Deps, "clients">,
  call: Call,
  ids: readonly string[],
): Promise<readonly string[]> {
  const pages = chunksOf(ids, MAX_SEGMENTS).map((some) =>
    clients.listSegments(
      {
        limit: BigInt(MAX_SEGMENTS),
        filters: { id: { conditions: { $in: some } } },
      },
      call,
    ),
  );
  return (await Promise.all(pages)).flatMap(({ data }) => data.map(({ id }) => id));
}
