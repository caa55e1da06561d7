import { create } from "@bufbuild/protobuf";
import type { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import { CreateProductRequestSchema } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { startItems } from "../imports/start-import.ts";

export const bulkUpdateProductsMetadata =
  (deps: Deps): Handler<typeof ImportService.method.bulkUpdateProductsMetadata> =>
  ({ sourceIds, metadata, metadataSchemas: schemas }, call) =>
    startItems(deps, call, {
      type: "PRODUCTS.METADATA_UPDATE",
      kind: deps.importKinds.products,
      items: sourceIds.map((sourceId) => create(CreateProductRequestSchema, { sourceId })),
      metadata,
      schemas,
    });
