import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import type { GatheredVoucher } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";

/** The categories of the vouchers, by id; one that was deleted is left out. */
export async function gatherCategories(
  deps: Deps,
  call: Call,
  vouchers: readonly GatheredVoucher[],
): Promise<ReadonlyMap<string, Category>> {
  const ids = new Set(vouchers.flatMap(({ voucher }) => voucher?.categoryId ?? []));
  const answers = await Promise.all(
    [...ids].map((id) => deps.clients.resolveCategory({ projectId: call.project.id, id })),
  );
  return new Map(answers.flatMap(({ category }) => (category ? [[category.id, category]] : [])));
}
