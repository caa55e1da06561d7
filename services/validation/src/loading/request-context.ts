import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { StackingRules } from "../domain/stacking/stacking-rules.ts";
import type { RequestContext } from "../mapping/decision-context.ts";
import { type DecisionInput, customerOf, expandOf } from "../mapping/decision-input.ts";
import { trackingIdOf } from "../mapping/tracking-id.ts";
import { loadCustomer, requireIdentities } from "./customer.ts";
import { loadOrderWithCatalogueData, loadOrder } from "./order.ts";

/** Loads the context of a validation or qualification, without writing or claiming anything. */
export async function loadRequestContext(
  deps: Deps,
  call: Call,
  input: DecisionInput,
  stacking: StackingRules,
): Promise<{ readonly requestContext: RequestContext; readonly tracking: string | undefined }> {
  requireIdentities(input);
  const requestedCustomer = customerOf(input);
  const [{ sent: order, stored: storedOrder, lines }, customer] = await Promise.all([
    loadOrderWithCatalogueData(deps, call, input.order, {
      find: (orderInput) => loadOrder(deps, call, orderInput),
    }),
    loadCustomer(deps, call, requestedCustomer),
  ]);
  const { trackingId: sent } = input;
  const tracking = trackingIdOf(deps.trackingSecret, call.project.id, {
    trackingId: sent,
    sourceId: customer?.sourceId ?? requestedCustomer?.sourceId,
  });
  const expand = expandOf(input);
  const trace = expand.has("explanation") || expand.has("hints");
  return {
    requestContext: {
      input: { ...input, order },
      requestedCustomer,
      customer,
      storedOrder,
      lines,
      stacking,
      trace,
    },
    tracking,
  };
}
