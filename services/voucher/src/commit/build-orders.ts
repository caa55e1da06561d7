import type { Order, OrderRedemption } from "@scrip/proto/scrip/common/v1/order_pb";

import { encodeOrder } from "../events/redemption-made.ts";
import { relatedObject } from "../mapping/redemption.ts";
import type { Command } from "./parse-command.ts";

/** An order that lists its redemption: the message and its encoded form. */
export type OrderWithRedemption = { readonly message: Order; readonly bytes: Uint8Array };

/** The orders of a command: after each part, and after all of them. */
export type CommandOrders = {
  readonly parts: readonly (OrderWithRedemption | null)[];
  readonly whole: OrderWithRedemption | null;
};

const NONE: CommandOrders = { parts: [], whole: null };

/** Parts that share one order message share its encoded form. */
export function* buildOrders(
  command: Command,
  ids: readonly string[],
  parentId: string | null,
): Generator<void, CommandOrders> {
  const { message } = command;
  const sent = message.parts.map(({ order }) => order ?? message.order);
  if (sent.every((order) => order === undefined)) return NONE;
  const orderEntry = entryOf(command, ids, parentId);
  const key = parentId ?? ids[0] ?? "";
  const built = new Map<Order, OrderWithRedemption>();
  const addRedemption = (order: Order | undefined): OrderWithRedemption | null => {
    if (order === undefined) return null;
    const earlier = built.get(order);
    if (earlier !== undefined) return earlier;
    const named = { ...order, redemptions: { ...order.redemptions, [key]: orderEntry } };
    const entry = { message: named, bytes: encodeOrder(named) };
    built.set(order, entry);
    return entry;
  };
  const parts: (OrderWithRedemption | null)[] = [];
  for (const order of sent) {
    if (parts.length > 0) yield;
    parts.push(addRedemption(order));
  }
  const last = sent.at(-1);
  return { parts, whole: addRedemption(parentId === null ? last : (message.order ?? last)) };
}

/** The entry of the order for the redemption, or for the parent with its parts. */
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
