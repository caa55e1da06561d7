import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  type LineItemReference,
  type LinesWithCatalogueData,
  skuName,
  productName,
  entriesOf,
  withCatalogueData,
  type CatalogueUnit,
  catalogueUnitOf,
  catalogueLineOf,
} from "../mapping/catalogue-line.ts";

/**
 * Adds catalogue data to lines that reference a product or SKU. Sent or stored data of the order
 * wins over the catalogue (docs/order-calculation.md#input-order); an unknown product adds nothing.
 * Makes no query without references.
 */
export async function addCatalogueData<Line extends LineItemReference>(
  deps: Pick<Deps, "findInCatalogue">,
  call: Call,
  items: Line[],
): Promise<LinesWithCatalogueData<Line>> {
  const skus = items.flatMap((item) => skuName(item) ?? []);
  const products = items.flatMap((item) => productName(item) ?? []);
  if (skus.length === 0 && products.length === 0) {
    return { items, lines: items.map((item) => catalogueLineOf(item)) };
  }
  const catalogue = await deps.findInCatalogue({ projectId: call.project.id, skus, products });
  const loaded = items.map((item) => ({ item, ...entriesOf(item, catalogue) }));
  return {
    items: loaded.map(({ item, sku, product }) => withCatalogueData(item, sku, product)),
    lines: loaded.map(({ item, sku, product }) => catalogueLineOf(item, sku, product)),
  };
}

/**
 * Catalogue entries by id or source id of a product or SKU. Ids take precedence over source ids,
 * and products over SKUs; unknown names are not in the result.
 */
export async function loadCatalogueUnits(
  deps: Pick<Deps, "findInCatalogue">,
  projectId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, CatalogueUnit>> {
  if (names.length === 0) return new Map();
  const input = [...new Set(names)];
  const catalogue = await deps.findInCatalogue({ projectId, skus: input, products: input });
  return new Map(
    input.flatMap((name): [string, CatalogueUnit][] => {
      const byName = { product: catalogue.product(name), sku: catalogue.sku(name) };
      const isSku = byName.product === undefined || byName.sku?.id === name;
      const sku = isSku ? byName.sku : undefined;
      const product = sku === undefined ? byName.product : catalogue.product(sku.product_id);
      return product === undefined ? [] : [[name, catalogueUnitOf(product, sku)]];
    }),
  );
}
