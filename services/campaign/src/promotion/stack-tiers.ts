import { invalidPayload, notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";

import { holdTiers } from "../store/promotion-tiers.ts";

/** A stack is looked at as a whole by qualifications, so that there are no more than this. */
export const MAX_STACKS_OF_PROJECT = 1_000;

/** Refuses tiers that are named twice or do not exist, and keeps the others where they are. */
export async function requireTiers(
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<void> {
  if (new Set(ids).size !== ids.length) {
    throw invalidPayload("Property .tiers.ids must NOT have duplicate items");
  }
  const held = await holdTiers(tx, projectId, ids);
  const unknown = ids.find((id) => !held.has(id));
  if (unknown !== undefined) throw notFound("promotion_tier", unknown);
}
