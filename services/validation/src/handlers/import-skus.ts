import { notFound } from "@scrip/errors";
import type { CatalogueImportService } from "@scrip/proto/scrip/validation/v1/catalogue_imports_pb";
import type { Handler } from "@scrip/rpc";

import { importEntries } from "../catalogue/import-entries.ts";
import type { Deps } from "../deps.ts";
import { importOutcome } from "../mapping/import-outcome.ts";
import { skuToRow } from "../mapping/sku.ts";
import { findEntries } from "../store/catalogue.ts";

export const importSkus =
  (deps: Deps): Handler<typeof CatalogueImportService.method.importSkus> =>
  async ({ items }, { project, now, requestId }) => {
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
