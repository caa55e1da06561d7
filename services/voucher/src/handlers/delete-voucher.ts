import { enqueue } from "@scrip/events";
import type { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { voucherDeleted, voucherPurged } from "../events/voucher-deleted.ts";
import { deleteVoucher as markDeleted, freeCode } from "../store/voucher-writes.ts";
import { lockVoucher } from "../voucher/edit-voucher.ts";

/** `force` also frees the code of a voucher that was deleted without it. */
export const deleteVoucher =
  (deps: Deps): Handler<typeof VoucherService.method.deleteVoucher> =>
  async ({ code, force = false }, call) => {
    const name = { projectId: call.project.id, code };
    await deps.db.transaction(async (tx) => {
      const freed = force ? await freeCode(tx, name) : undefined;
      if (freed !== undefined) {
        const purged = voucherPurged(deps.newId("event"), call.project.id, freed);
        await enqueue(tx, [purged], call);
        return;
      }
      const { definition, usage } = await lockVoucher(tx, call.project.id, code);
      await markDeleted(tx, definition, { at: call.now, freesCode: force });
      const deleted = { ...definition, permanent: force, balance: usage.balance };
      await enqueue(tx, [voucherDeleted(deps.newId("event"), deleted, call.now)], call);
    });
    deps.onEvents();
    return { $typeName: "google.protobuf.Empty" };
  };
