import { notFound, ApiError } from "@scrip/errors";
import type { Order, OrderInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { orderKey } from "../mapping/order.ts";
import { claimOrder, releaseOrder } from "../store/order-claims.ts";
import type { OrderKey } from "../store/orders.ts";

/** Exclusive access to an order for one request. */
export type OrderClaim = {
  readonly id: string;
  readonly stored: Order | null;
  /** Releases the order when nothing was committed. */
  readonly release: () => Promise<void>;
};

const NOTHING_TO_RELEASE = async (): Promise<void> => {};

/** Claims the order that the request references, or allocates the id of a new one. */
export async function claimRequestedOrder(
  deps: Deps,
  call: Call,
  input: OrderInput,
): Promise<OrderClaim> {
  const key = orderKey(input);
  if (key === undefined) {
    return { id: deps.newId("ord"), stored: null, release: NOTHING_TO_RELEASE };
  }
  const orderClaim = await tryClaim(deps, call, key);
  if (orderClaim === undefined) throw notFound("order", key.value);
  return orderClaim;
}

/**
 * Claims the order of a known redemption. Undefined if the redemption's process died before storing
 * the order.
 */
export const claimStoredOrder = (
  deps: Pick<Deps, "db" | "newId">,
  call: Call,
  id: string,
): Promise<OrderClaim | undefined> => tryClaim(deps, call, { column: "id", value: id });

async function tryClaim(
  deps: Pick<Deps, "db" | "newId">,
  call: Call,
  key: OrderKey,
): Promise<OrderClaim | undefined> {
  const projectId = call.project.id;
  const by = call.idempotency?.key ?? call.requestId;
  const at = new Date(call.now);
  const claim = await claimOrder(deps.db, { projectId, key, by, newId: deps.newId("ord"), at });
  switch (claim.kind) {
    case "claimed":
      return {
        id: claim.id,
        stored: claim.order,
        release: () => releaseOrder(deps.db, { projectId, id: claim.id, by }),
      };
    case "not_found":
      return undefined;
    case "taken":
      throw claim.by === call.idempotency?.key
        ? new ApiError("idempotency_in_progress")
        : new ApiError("multiple_requests", {
            details: `Order ${key.value} takes part in another request`,
          });
    default:
      return claim satisfies never;
  }
}
