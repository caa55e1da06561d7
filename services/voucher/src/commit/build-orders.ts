import type { Order, OrderRedemption } from "@scrip/proto/scrip/common/v1/order_pb";

import { encodeOrder } from "../events/redemption-made.ts";
import { relatedObject } from "../mapping/redemption.ts";
import type { Command } from "./parse-command.ts";

/** An order that names its redemption, as it is answered and as it is stored. */
export type KeptOrder = { readonly message: Order; readonly bytes: Uint8Array };

/** The orders of a command: as each part left it, and as all of them did. */
export type KeptOrders = {
  readonly parts: readonly (KeptOrder | null)[];
  readonly whole: KeptOrder | null;
};

const NONE: KeptOrders = { parts: [], whole: null };

/** Orders that came as one message are named and encoded once. */
export function* keepOrders(
  command: Command,
  ids: readonly string[],
  parentId: string | null,
): Generator<void, KeptOrders> {
  const { message } = command;
  const sent = message.parts.map(({ order }) => order ?? message.order);
  if (sent.every((order) => order === undefined)) return NONE;
  const entry = entryOf(command, ids, parentId);
  const key = parentId ?? ids[0] ?? "";
  const kept = new Map<Order, KeptOrder>();
  const keep = (order: Order | undefined): KeptOrder | null => {
    if (order === undefined) return null;
    const earlier = kept.get(order);
    if (earlier !== undefined) return earlier;
    const named = { ...order, redemptions: { ...order.redemptions, [key]: entry } };
    const keeps = { message: named, bytes: encodeOrder(named) };
    kept.set(order, keeps);
    return keeps;
  };
  const parts: (KeptOrder | null)[] = [];
  for (const order of sent) {
    if (parts.length > 0) yield;
    parts.push(keep(order));
  }
  const last = sent.at(-1);
  return { parts, whole: keep(parentId === null ? last : (message.order ?? last)) };
}

/** How the order names the redemption, or the parent with its parts. */
function entryOf(
  { message, parts }: Command,
  ids: readonly string[],
  parentId: string | null,
): OrderRedemption {
  const id = parentId ?? ids[0] ?? "";
  const [first] = parentId === null ? parts : [];
  const about = relatedObject(id, first ?? { voucherId: null, tierId: null, campaignId: null });
  return {
    $typeName: "scrip.common.v1.OrderRedemption",
    date: message.now,
    relatedObjectType: about.relatedObjectType,
    relatedObjectId: about.relatedObjectId,
    relatedObjectParentId: about.relatedObjectParentId,
    stacked: parentId === null ? [] : [...ids],
    rollbackStacked: [],
  };
}
