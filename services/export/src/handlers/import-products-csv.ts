import type { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { startFile } from "../imports/start-import.ts";

export const importProductsCsv =
  (deps: Deps): Handler<typeof ImportService.method.importProductsCsv> =>
  ({ fileId, metadataSchemas: schemas }, call) =>
    startFile(deps, call, {
      type: "PRODUCTS.IMPORT_CSV",
      kind: deps.importKinds.products,
      fileId,
      schemas,
    });
