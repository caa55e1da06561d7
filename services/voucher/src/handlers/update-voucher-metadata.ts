import { itemOutcome } from "@scrip/mapping";
import { ItemResult } from "@scrip/proto/scrip/common/v1/items_pb";
import type { VoucherImportService } from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { Metadata } from "../domain/voucher.ts";
import { updateVouchersTogether } from "../store/voucher-batch-updates.ts";
import { findVouchers } from "../store/vouchers.ts";

export const updateVoucherMetadata =
  (deps: Deps): Handler<typeof VoucherImportService.method.updateVoucherMetadata> =>
  async ({ items }, call) => {
    const projectId = call.project.id;
    const found = await findVouchers(
      deps.db,
      items.map(({ code }) => ({ projectId, code })),
    );
    const merged = new Map<string, Metadata>();
    for (const [index, { metadata }] of items.entries()) {
      const id = found[index]?.definition.id;
      if (id !== undefined) merged.set(id, { ...merged.get(id), ...metadata });
    }
    const changes = [...merged].map(([id, metadata]) => ({ id, metadata }));
    const { live } = await deps.db.transaction((tx) =>
      updateVouchersTogether(tx, projectId, { changes, at: call.now }),
    );
    const outcomes = found.map((voucher) =>
      itemOutcome(
        voucher !== undefined && live.has(voucher.definition.id)
          ? ItemResult.UPDATED
          : ItemResult.NOT_FOUND,
      ),
    );
    return { $typeName: "scrip.voucher.v1.UpdateVoucherMetadataResponse", outcomes };
  };
