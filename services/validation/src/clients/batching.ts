import type { Transport } from "@connectrpc/connect";
import type { CoalescerOptions } from "@scrip/rpc";

export type Transports = {
  readonly voucher: Transport;
  readonly campaign: Transport;
  readonly loyalty: Transport;
};

/** Makes a question of one item of what asks about many; `name` is what its batches are counted as. */
export type Batched = <Item, Answer>(
  name: string,
  send: (items: readonly Item[]) => Promise<readonly Answer[]>,
  more?: Pick<CoalescerOptions<Item, Answer>, "isBadItem">,
) => (item: Item) => Promise<Answer>;

/** Commits take their batches apart themselves: only they know what may be done twice. */
export const WITHOUT_SINGLE_RETRY = {};
