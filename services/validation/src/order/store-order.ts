import { isUnavailable } from "@scrip/postgres";

import { type OverrideDeps, upsertOverrides } from "../catalogue/catalogue-overrides.ts";
import type { Deps } from "../deps.ts";
import { repairOrders, repairOverridingOrder } from "../store/order-repairs.ts";
import type { OverridingOrder } from "../store/order-rows.ts";
import { saveOrders } from "../store/orders.ts";

/** Stores the order of a redemption and its catalogue overrides in one transaction. */
export async function storeOrder(
  deps: Pick<Deps, "db" | "newId" | "saveOrder" | "onEvents" | "onError">,
  { overrides, ...stored }: OverridingOrder,
): Promise<void> {
  if (overrides.length === 0) return deps.saveOrder(stored);
  try {
    await upsertOverrides(deps, overridingOf({ ...stored, overrides }), (tx, withCatalogueIds) =>
      saveOrders(tx, [{ ...stored, order: withCatalogueIds(stored.order) }]),
    );
    deps.onEvents();
  } catch (cause) {
    if (isUnavailable(cause)) throw cause;
    // The order has to be stored even if the catalogue rejects the overrides.
    deps.onError(new Error("catalogue overrides of an order could not be stored", { cause }));
    await deps.saveOrder(stored);
  }
}

/**
 * Leaves an order that is stored and as new unchanged; its overrides were applied with it.
 * Repeatable.
 */
export async function repairOrder(deps: OverrideDeps, order: OverridingOrder): Promise<void> {
  if (order.overrides.length === 0) return repairOrders(deps.db, [order]);
  await repairOverridingOrder(deps.db, order, (store) =>
    upsertOverrides(deps, overridingOf(order), store),
  );
}

const overridingOf = ({ projectId, at, overrides }: OverridingOrder) => ({
  projectId,
  now: at.getTime(),
  lines: overrides,
});
