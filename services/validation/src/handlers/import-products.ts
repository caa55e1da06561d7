import type { CatalogueImportService } from "@scrip/proto/scrip/validation/v1/catalogue_imports_pb";
import type { Handler } from "@scrip/rpc";

import { importEntries } from "../catalogue/import-entries.ts";
import type { Deps } from "../deps.ts";
import { importOutcome } from "../mapping/import-outcome.ts";
import { productToRow } from "../mapping/product.ts";

export const importProducts =
  (deps: Deps): Handler<typeof CatalogueImportService.method.importProducts> =>
  async ({ items }, { project, now, requestId }) => {
    const imported = await importEntries(deps, "product", {
      projectId: project.id,
      imports: items.map((item) => ({
        item,
        change: (stored) => productToRow(item, stored, { newId: () => deps.newId("prod"), now }),
      })),
    });
    return {
      $typeName: "scrip.validation.v1.ImportProductsResponse",
      outcomes: imported.map((each) => importOutcome(each, requestId)),
    };
  };
