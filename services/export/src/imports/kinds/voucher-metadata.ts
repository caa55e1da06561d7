import {
  type VoucherMetadata,
  VoucherMetadataSchema,
} from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";

import type { Clients } from "../../clients.ts";
import type { ImportKind } from "../import-kind.ts";

export const voucherMetadata = ({ voucherImports }: Clients): ImportKind<VoucherMetadata> => ({
  schema: VoucherMetadataSchema,
  noun: "voucher",
  nameOf: ({ code }) => ({ code }),
  metadataOf: ({ metadata }) => ({ resource: "voucher", metadata, isComplete: false }),
  send: async (items, { call }) => {
    const { outcomes } = await voucherImports.updateVoucherMetadata(
      { items: [...items] },
      call("update"),
    );
    return outcomes;
  },
});
