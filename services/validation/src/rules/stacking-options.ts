import { invalidPayload, notFound } from "@scrip/errors";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { stackingContradiction, type StackingOptions } from "../domain/stacking/stacking-rules.ts";

export function rejectContradiction(options: StackingOptions): void {
  const contradiction = stackingContradiction(options);
  if (contradiction !== null) throw invalidPayload(contradiction);
}

/** An unknown category would silently have no effect. */
export async function rejectUnknownCategories(
  deps: Pick<Deps, "clients">,
  call: Call,
  ids: readonly string[],
): Promise<void> {
  const results = await Promise.all(
    ids.map((id) => deps.clients.resolveCategory({ projectId: call.project.id, id }, call)),
  );
  for (const [index, { category }] of results.entries()) {
    if (category === undefined) throw notFound("category", ids[index] ?? "");
  }
}
