import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { StackingRules } from "../domain/stacking/stacking-rules.ts";
import type { RequestContext } from "../mapping/decision-context.ts";
import { type DecisionInput, requestedCustomer, expandOf } from "../mapping/decision-input.ts";
import { trackingIdOf } from "../mapping/tracking-id.ts";
import { loadCustomer } from "./customer.ts";
import { loadOrderWithCatalogueData, loadOrder } from "./order.ts";

/** What a decision that is only asked for is made under; nothing is written or claimed for it. */
export async function loadRequestContext(
  deps: Deps,
  call: Call,
  asked: DecisionInput,
  stacking: StackingRules,
): Promise<{ readonly circumstances: RequestContext; readonly tracking: string | undefined }> {
  const said = requestedCustomer(asked);
  const [{ sent: order, stored, lines }, customer] = await Promise.all([
    loadOrderWithCatalogueData(deps, call, asked.order, (input) => loadOrder(deps, call, input)),
    loadCustomer(deps, call, said),
  ]);
  const { trackingId: sent } = asked;
  const tracking = trackingIdOf(deps.trackingSecret, call.project.id, {
    trackingId: sent,
    sourceId: customer?.sourceId ?? said?.sourceId,
  });
  const expand = expandOf(asked);
  const trace = expand.has("explanation") || expand.has("hints");
  return {
    circumstances: { asked: { ...asked, order }, said, customer, stored, lines, stacking, trace },
    tracking,
  };
}
