import { currentTime } from "@scrip/clock";
import { ApiError } from "@scrip/errors";
import { newRequestId } from "@scrip/ids";

import { batchCall, type Call } from "../call/call.ts";
import { type CoalescerOptions, createCoalescer } from "./coalescer.ts";

export type CallCoalescerOptions<Item, Result> = Omit<CoalescerOptions<Item, Result>, "send"> & {
  /** `call` has the latest deadline of the callers, so that none fails before its own. */
  readonly send: (items: readonly Item[], call: Call) => Promise<readonly Result[]>;
};

type Waiting<Item> = { readonly item: Item; readonly deadline: number };
type Outcome<Result> = { readonly result: Result } | undefined;

/**
 * A coalescer for calls of requests with deadlines. Items whose callers have given up are not sent: they are rejected
 * with `deadline_exceeded`, and fail no others of their batch.
 */
export function createCallCoalescer<Item, Result>({
  send,
  ...options
}: CallCoalescerOptions<Item, Result>): (
  item: Item,
  caller: Pick<Call, "deadline">,
) => Promise<Result> {
  const enter = createCoalescer<Waiting<Item>, Outcome<Result>>({
    ...options,
    async send(waiting) {
      const now = currentTime();
      const isLive = ({ deadline }: Waiting<Item>): boolean => deadline > now;
      const live = waiting.filter(isLive);
      if (live.length === 0) return waiting.map(() => undefined);
      const latest = live.reduce((last, { deadline }) => Math.max(last, deadline), now);
      const results = await send(
        live.map(({ item }) => item),
        batchCall(newRequestId(), latest, now),
      );
      if (results.length !== live.length) {
        throw new Error(`a batch of ${live.length} items returned ${results.length} results`);
      }
      const sent = results[Symbol.iterator]();
      return waiting.map((each) =>
        isLive(each) ? { result: sent.next().value as Result } : undefined,
      );
    },
  });
  return async (item, { deadline }) => {
    const outcome = await enter({ item, deadline });
    if (outcome === undefined) throw new ApiError("deadline_exceeded");
    return outcome.result;
  };
}
