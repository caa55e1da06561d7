import type { Transport } from "@connectrpc/connect";
import type { CoalescerOptions } from "@scrip/rpc";

export type Transports = {
  readonly voucher: Transport;
  readonly campaign: Transport;
  readonly loyalty: Transport;
};

/** Turns a batch RPC into a function of one item; `name` labels the batch-size metric. */
export type Batched = <Item, Result>(
  name: string,
  send: (items: readonly Item[]) => Promise<readonly Result[]>,
  more?: Pick<CoalescerOptions<Item, Result>, "isBadItem">,
) => (item: Item) => Promise<Result>;

/** For commits: the service reports each item's outcome, and a commit must not be sent twice. */
export const WITHOUT_SINGLE_RETRY = {};
