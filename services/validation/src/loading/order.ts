import { notFound } from "@scrip/errors";
import type { Order, OrderInput, OrderItemInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { CatalogueLine } from "../domain/catalogue/product-collections.ts";
import type { LinesWithCatalogueData } from "../mapping/catalogue-line.ts";
import { orderKey } from "../mapping/order.ts";
import { findOrder } from "../store/orders.ts";
import { addCatalogueData } from "./catalogue.ts";

/** The order of a request. */
export type OrderWithCatalogueData = {
  readonly sent: OrderInput | undefined;
  /** The stored order that the request references. */
  readonly stored: Order | null;
  /** Catalogue data of the lines that are decided on: those sent, otherwise those stored. */
  readonly lines: readonly CatalogueLine[];
};

/**
 * The order with catalogue data added to its lines. `find` reads or claims the stored order
 * concurrently. Sent data wins over stored data (docs/order-calculation.md#input-order). `sentLines`: the lines of the
 * request, if their data is being loaded already.
 */
export async function loadOrderWithCatalogueData(
  deps: Pick<Deps, "findInCatalogue">,
  call: Call,
  sent: OrderInput | undefined,
  {
    find,
    sentLines = addCatalogueData(deps, call, sent?.items ?? []),
  }: {
    readonly find: (input: OrderInput) => Promise<Order | null>;
    readonly sentLines?: Promise<LinesWithCatalogueData<OrderItemInput>>;
  },
): Promise<OrderWithCatalogueData> {
  if (sent === undefined) return { sent, stored: null, lines: [] };
  if (sent.items.length > 0) {
    const [{ items, lines }, stored] = await Promise.all([sentLines, find(sent)]);
    return { sent: { ...sent, items }, stored, lines };
  }
  const stored = await find(sent);
  if (stored === null) return { sent, stored, lines: [] };
  const { items, lines } = await addCatalogueData(deps, call, stored.items);
  return { sent, stored: { ...stored, items }, lines };
}

/** The stored order that a request references; an unknown source id is a new order. */
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
