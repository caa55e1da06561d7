import { create } from "@bufbuild/protobuf";
import type { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import { VoucherMetadataSchema } from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { startItems } from "../imports/start-import.ts";

export const bulkUpdateVouchers =
  (deps: Deps): Handler<typeof ImportService.method.bulkUpdateVouchers> =>
  ({ vouchers, metadataSchemas: schemas }, call) =>
    startItems(deps, call, {
      type: "VOUCHERS.BULK_UPDATE",
      kind: deps.importKinds.voucherMetadata,
      items: vouchers.map(({ code, metadata }) =>
        create(VoucherMetadataSchema, { code, metadata }),
      ),
      schemas,
    });
