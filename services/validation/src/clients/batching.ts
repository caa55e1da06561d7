import type { Transport } from "@connectrpc/connect";
import type { Call, CallCoalescerOptions } from "@scrip/rpc";

export type Transports = {
  readonly voucher: Transport;
  readonly campaign: Transport;
  readonly loyalty: Transport;
};

/** How long the request that needs a result waits for it. */
export type Deadline = Pick<Call, "deadline">;

/** Turns a batch RPC into a function of one item; `name` labels the batch-size metric. */
export type Batched = <Item, Result>(
  name: string,
  send: (items: readonly Item[], call: Call) => Promise<readonly Result[]>,
  more?: Pick<CallCoalescerOptions<Item, Result>, "isBadItem">,
) => (item: Item, caller: Deadline) => Promise<Result>;

/**
 * For commits: the service reports each item's outcome, and a commit must not be sent twice. Nor is one cancelled once it
 * was sent, because its outcome would be unknown: it has the time limit of a request, whatever its callers have left.
 */
export const WITHOUT_SINGLE_RETRY = {};
