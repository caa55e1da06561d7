import { create } from "@bufbuild/protobuf";
import type { VoucherToImport } from "@scrip/proto/scrip/export/v1/imports_pb";
import {
  type ImportedVoucher,
  ImportedVoucherSchema,
} from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";

/** The item of the voucher service for an item of a JSON import. */
export function importedVoucherFromRequest(item: VoucherToImport): ImportedVoucher {
  const { $typeName: _, redemption, ...voucher } = item;
  return create(ImportedVoucherSchema, {
    voucher: {
      ...voucher,
      ...(redemption !== undefined && { redemption: { quantity: redemption.quantity } }),
    },
  });
}
