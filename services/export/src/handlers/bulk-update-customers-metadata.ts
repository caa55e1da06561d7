import { create } from "@bufbuild/protobuf";
import type { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import { CreateCustomerRequestSchema } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { startItems } from "../imports/start-import.ts";

export const bulkUpdateCustomersMetadata =
  (deps: Deps): Handler<typeof ImportService.method.bulkUpdateCustomersMetadata> =>
  ({ sourceIds, metadata, metadataSchemas: schemas }, call) =>
    startItems(deps, call, {
      type: "CUSTOMERS.METADATA_UPDATE",
      kind: deps.importKinds.customers,
      items: sourceIds.map((sourceId) => create(CreateCustomerRequestSchema, { sourceId })),
      metadata,
      schemas,
    });
