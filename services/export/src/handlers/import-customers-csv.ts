import type { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { startFile } from "../imports/start-import.ts";

export const importCustomersCsv =
  (deps: Deps): Handler<typeof ImportService.method.importCustomersCsv> =>
  ({ fileId, metadataSchemas: schemas }, call) =>
    startFile(deps, call, {
      type: "CUSTOMERS.IMPORT_CSV",
      kind: deps.importKinds.customers,
      fileId,
      schemas,
    });
