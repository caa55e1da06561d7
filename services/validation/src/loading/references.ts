import { inUse } from "@scrip/errors";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";

/**
 * Rejects the deletion of an object that earning rules or rewards refer to. `aliases`: other names that references may use.
 * A reference that is created concurrently is not found: its rule then refers to a deleted object and has no effect.
 */
export async function rejectReferenced(
  { clients }: Pick<Deps, "clients">,
  call: Call,
  object: { readonly type: string; readonly id: string; readonly aliases?: readonly string[] },
): Promise<void> {
  const { type: resource, id, aliases = [] } = object;
  const { type, ids, total } = await clients.listReferences({ ids: [id, ...aliases] }, call);
  if (total > 0n) throw inUse(resource, id, { type, ids, total });
}
