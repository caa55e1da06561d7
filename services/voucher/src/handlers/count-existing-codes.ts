import type { VoucherImportService } from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { codeKeyOf } from "../domain/voucher.ts";
import { countCodeKeys } from "../store/vouchers.ts";

export const countExistingCodes =
  (deps: Deps): Handler<typeof VoucherImportService.method.countExistingCodes> =>
  async ({ codes }, { project }) => ({
    $typeName: "scrip.voucher.v1.CountExistingCodesResponse",
    existing: await countCodeKeys(deps.db, project.id, [
      ...new Set(codes.map((code) => codeKeyOf(code, project.caseSensitiveCodes))),
    ]),
  });
