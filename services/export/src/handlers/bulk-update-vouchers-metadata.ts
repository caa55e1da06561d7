import { create } from "@bufbuild/protobuf";
import type { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import { VoucherMetadataSchema } from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { startItems } from "../imports/start-import.ts";

export const bulkUpdateVouchersMetadata =
  (deps: Deps): Handler<typeof ImportService.method.bulkUpdateVouchersMetadata> =>
  ({ codes, metadata, metadataSchemas: schemas }, call) =>
    startItems(deps, call, {
      type: "VOUCHERS.METADATA_UPDATE",
      kind: deps.importKinds.voucherMetadata,
      items: codes.map((code) => create(VoucherMetadataSchema, { code })),
      metadata,
      schemas,
    });
