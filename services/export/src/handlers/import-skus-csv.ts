import type { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { startFile } from "../imports/start-import.ts";

export const importSkusCsv =
  (deps: Deps): Handler<typeof ImportService.method.importSkusCsv> =>
  ({ fileId, metadataSchemas: schemas }, call) =>
    startFile(deps, call, {
      type: "SKUS.IMPORT_CSV",
      kind: deps.importKinds.skus,
      fileId,
      schemas,
    });
