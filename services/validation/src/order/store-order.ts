import { isUnavailable } from "@scrip/postgres";

import {
  findOverrideIds,
  type OverrideDeps,
  upsertOverrides,
  type WithCatalogueIds,
} from "../catalogue/catalogue-overrides.ts";
import type { Deps } from "../deps.ts";
import { repairOrders, repairOverridingOrder } from "../store/order-repairs.ts";
import type { OverridingOrder } from "../store/order-rows.ts";
import { saveOrders } from "../store/orders.ts";

/** Stores the order of a redemption and its catalogue overrides in one transaction. Returns what adds the ids of the overrides. */
export async function storeOrder(
  deps: Pick<Deps, "db" | "newId" | "saveOrder" | "onEvents" | "onError">,
  { overrides, ...stored }: OverridingOrder,
): Promise<WithCatalogueIds> {
  let withOverrideIds = UNCHANGED;
  if (overrides.length === 0) {
    await deps.saveOrder(stored);
    return withOverrideIds;
  }
  try {
    await upsertOverrides(deps, overridingOf({ ...stored, overrides }), (tx, withCatalogueIds) => {
      withOverrideIds = withCatalogueIds;
      return saveOrders(tx, [{ ...stored, order: withCatalogueIds(stored.order) }]);
    });
    deps.onEvents();
    return withOverrideIds;
  } catch (cause) {
    if (isUnavailable(cause)) throw cause;
    // The order has to be stored even if the catalogue rejects the overrides.
    deps.onError(new Error("catalogue overrides of an order could not be stored", { cause }));
    await deps.saveOrder(stored);
    return UNCHANGED;
  }
}

const UNCHANGED: WithCatalogueIds = (order) => order;

/**
 * Leaves an order that is stored and as new unchanged; its overrides were applied with it.
 * Repeatable. Returns what adds the ids of the overrides.
 */
export async function repairOrder(
  deps: OverrideDeps,
  order: OverridingOrder,
): Promise<WithCatalogueIds> {
  if (order.overrides.length === 0) {
    await repairOrders(deps.db, [order]);
    return UNCHANGED;
  }
  const overriding = overridingOf(order);
  await repairOverridingOrder(deps.db, order, (store) => upsertOverrides(deps, overriding, store));
  return findOverrideIds(deps.db, overriding);
}

const overridingOf = ({ projectId, at, overrides }: OverridingOrder) => ({
  projectId,
  now: at.getTime(),
  lines: overrides,
});
