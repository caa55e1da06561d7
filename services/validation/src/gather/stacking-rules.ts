import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { type StackingRules, stackingRulesOf } from "../domain/stacking-rules.ts";
import { findStackingRules } from "../store/stacking-rules.ts";

/** How the redeemables of a request of this project go together. */
export async function gatherStackingRules(
  deps: Pick<Deps, "db">,
  call: Call,
): Promise<StackingRules> {
  const stored = await findStackingRules(deps.db, call.project.id);
  return stackingRulesOf(stored?.options ?? {});
}
