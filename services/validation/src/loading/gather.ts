import { invalidPayload, notFound } from "@scrip/errors";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { Order, OrderInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { VoucherResult } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { trackingIdOf } from "../mapping/tracking-id.ts";
import { findOrder, type OrderKey } from "../store/orders.ts";
import { toTimestamp } from "./timestamps.ts";

/**
 * Asks for vouchers by code or id, and for the answer that an idempotency key already has. What live
 * sessions of others hold comes with them.
 */
export async function loadVouchers(
  deps: Pick<Deps, "clients">,
  call: Call,
  { codes, sessionKey }: { readonly codes: string[]; readonly sessionKey?: string | undefined },
): Promise<VoucherResult> {
  if (codes.length === 0 && call.idempotency === undefined) return NO_VOUCHERS;
  return deps.clients.loadVouchers({
    $typeName: "scrip.voucher.v1.VoucherQuery",
    projectId: call.project.id,
    codes,
    now: toTimestamp(call.now),
    ...(sessionKey !== undefined && { sessionKey }),
    ...(call.idempotency !== undefined && {
      idempotency: { $typeName: "scrip.voucher.v1.IdempotencyKey", ...call.idempotency },
    }),
  });
}

const NO_VOUCHERS: VoucherResult = { $typeName: "scrip.voucher.v1.VoucherResult", vouchers: [] };

/**
 * Finds the customer that a request names, without writing. An unknown source id is a customer with
 * just the data that was sent; an unknown id is an error.
 */
export async function loadCustomer(
  deps: Deps,
  call: Call,
  customer: Customer | undefined,
): Promise<StoredCustomer | undefined> {
  if (customer === undefined) return undefined;
  if (customer.id === undefined && customer.sourceId === undefined) {
    throw invalidPayload("Property .customer should have required property 'id' or 'source_id'");
  }
  const answer = await deps.clients.resolveCustomer({
    projectId: call.project.id,
    customer,
    upsert: false,
    now: toTimestamp(call.now),
  });
  if (answer.customer === undefined && customer.id !== undefined) {
    throw notFound("customer", customer.id);
  }
  return answer.customer;
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

export function orderKey(input: OrderInput): OrderKey | undefined {
  if (input.id !== undefined) return { column: "id", value: input.id };
  if (input.sourceId !== undefined) return { column: "source_id", value: input.sourceId };
  return undefined;
}

export function trackingId(
  deps: Deps,
  call: Call,
  said: { readonly trackingId?: string | undefined; readonly customer?: Customer | undefined },
  stored: StoredCustomer | undefined,
): string | undefined {
  return trackingIdOf(deps.trackingSecret, call.project.id, {
    trackingId: said.trackingId,
    sourceId: stored?.sourceId ?? said.customer?.sourceId,
  });
}
