import { create } from "@bufbuild/protobuf";
import type { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import { CreateCustomerRequestSchema } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { startItems } from "../imports/start-import.ts";

export const bulkUpdateCustomers =
  (deps: Deps): Handler<typeof ImportService.method.bulkUpdateCustomers> =>
  ({ customers, metadataSchemas: schemas }, call) =>
    startItems(deps, call, {
      type: "CUSTOMERS.BULK_UPDATE",
      kind: deps.importKinds.customers,
      items: customers.map((customer) => {
        const { $typeName: _, address, ...fields } = customer;
        const { $typeName: _type, ...parts } = address ?? { $typeName: undefined };
        return create(CreateCustomerRequestSchema, {
          ...fields,
          ...(address !== undefined && { address: parts }),
        });
      }),
      schemas,
    });
