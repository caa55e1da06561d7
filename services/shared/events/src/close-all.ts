import type { Subscription } from "./bus.ts";

/** Closes the subscriptions at the same time, and forgets them. */
export async function closeAll(
  subscriptions: Set<Pick<Subscription, "close">>,
  deadlineMs: number,
): Promise<void> {
  await Promise.all([...subscriptions].map((each) => each.close(deadlineMs)));
  subscriptions.clear();
}
