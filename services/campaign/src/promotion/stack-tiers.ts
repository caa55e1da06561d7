import { invalidPayload, notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";

import { shareLockTiers } from "../store/promotion-tiers.ts";

/** Prevents the deletion of a stack's tiers until the transaction ends; rejects duplicate and unknown ids. */
export async function lockStackTiers(
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<void> {
  if (new Set(ids).size !== ids.length) {
    throw invalidPayload("Property .tiers.ids must NOT have duplicate items");
  }
  const existing = await shareLockTiers(tx, projectId, ids);
  const unknown = ids.find((id) => !existing.has(id));
  if (unknown !== undefined) throw notFound("promotion_tier", unknown);
}
