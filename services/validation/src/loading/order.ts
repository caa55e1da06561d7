import { notFound } from "@scrip/errors";
import type { Order, OrderInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { CatalogueLine } from "../domain/catalogue/product-collections.ts";
import { orderKey } from "../mapping/order.ts";
import { findOrder } from "../store/orders.ts";
import { addCatalogueData } from "./catalogue.ts";

/** The order that a request is about. */
export type OrderWithCatalogueData = {
  readonly sent: OrderInput | undefined;
  /** The stored one that the request names. */
  readonly stored: Order | null;
  /** What the catalogue knows of the lines that are decided on: those sent, or else those stored. */
  readonly lines: readonly CatalogueLine[];
};

/**
 * The order with what the catalogue knows of its lines. What was sent wins over what is stored
 * (spec/validation-and-redemption.md §1.1); `find` reads or claims the stored one meanwhile.
 */
export async function loadOrderWithCatalogueData(
  deps: Pick<Deps, "findInCatalogue">,
  call: Call,
  sent: OrderInput | undefined,
  find: (input: OrderInput) => Promise<Order | null>,
): Promise<OrderWithCatalogueData> {
  if (sent === undefined) return { sent, stored: null, lines: [] };
  if (sent.items.length > 0) {
    const [{ items, lines }, stored] = await Promise.all([
      addCatalogueData(deps, call, sent.items),
      find(sent),
    ]);
    return { sent: { ...sent, items }, stored, lines };
  }
  const stored = await find(sent);
  if (stored === null) return { sent, stored, lines: [] };
  const { items, lines } = await addCatalogueData(deps, call, stored.items);
  return { sent, stored: { ...stored, items }, lines };
}

/** The stored order that a request names; an unknown source id is an order of its own. */
export async function loadOrder(
  deps: Deps,
  call: Call,
  input: OrderInput | undefined,
): Promise<Order | null> {
  const key = input && orderKey(input);
  if (key === undefined) return null;
  const order = await findOrder(deps.db, call.project.id, key);
  if (order === undefined && key.column === "id") throw notFound("order", key.value);
  return order ?? null;
}
