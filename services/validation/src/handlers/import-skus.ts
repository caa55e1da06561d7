import { notFound } from "@scrip/errors";
import { isForeignKeyViolation } from "@scrip/postgres";
import type { CatalogueImportService } from "@scrip/proto/scrip/validation/v1/catalogue_imports_pb";
import type { Handler } from "@scrip/rpc";

import { importEntries } from "../catalogue/import-entries.ts";
import type { Deps } from "../deps.ts";
import { importOutcome } from "../mapping/import-outcome.ts";
import { skuToRow } from "../mapping/sku.ts";
import { findEntries, PRODUCT_OF_SKU } from "../store/catalogue.ts";

export const importSkus =
  (deps: Deps): Handler<typeof CatalogueImportService.method.importSkus> =>
  async (request, call) => {
    try {
      return await importOnce(deps, request, call);
    } catch (error) {
      // A product was deleted meanwhile; its SKUs are rejected now.
      if (!isForeignKeyViolation(error, PRODUCT_OF_SKU)) throw error;
      return importOnce(deps, request, call);
    }
  };

const importOnce: (
  deps: Deps,
  ...args: Parameters<ReturnType<typeof importSkus>>
) => ReturnType<ReturnType<typeof importSkus>> = async (
  deps,
  { items },
  { project, now, requestId },
) => {
  const projectId = project.id;
  const names = [...new Set(items.map(({ productId }) => productId))];
  const products = await findEntries(deps.db, "product", {
    projectId,
    keys: names.flatMap((value) => [
      { column: "id" as const, value },
      { column: "source_id" as const, value },
    ]),
    lock: false,
  });
  const byId = new Map(products.map((product) => [product.id, product]));
  const bySourceId = new Map(products.map((product) => [product.source_id, product]));
  const imported = await importEntries(deps, "sku", {
    projectId,
    imports: items.map((item) => ({
      item,
      change: (stored) => {
        const product = byId.get(item.productId) ?? bySourceId.get(item.productId);
        if (product === undefined) throw notFound("product", item.productId);
        return skuToRow(item, stored, { product, newId: () => deps.newId("sku"), now });
      },
    })),
  });
  return {
    $typeName: "scrip.validation.v1.ImportSkusResponse",
    outcomes: imported.map((each) => importOutcome(each, requestId)),
  };
};
