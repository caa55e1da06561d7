import { ApiError } from "@scrip/errors";
import { causedMessages, type EventHandler, type Origin } from "@scrip/events";
import { type CardRequested, CardRequestedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";

import type { Deps } from "../deps.ts";
import { findCustomer } from "../loading/customers.ts";
import { ownCall } from "../own-call.ts";
import { publishOnce } from "../publication/publish.ts";
import { findCampaign } from "../store/campaigns.ts";

/**
 * Publishes cards to customers who earned points without one. Customers join a program once, so a repeated request
 * changes nothing. A program without a free card publishes none; the next event of the customer requests one again.
 */
export const onCardRequested =
  (deps: Deps): EventHandler =>
  async (events) => {
    for (const { message, origin } of causedMessages(events, CardRequestedSchema)) {
      await publishCard(deps, message, origin);
    }
  };

async function publishCard(
  deps: Deps,
  { projectId, customerId, campaignId }: CardRequested,
  origin: Origin | undefined,
): Promise<void> {
  const call = await ownCall(deps, projectId, origin);
  if (call === undefined) return;
  const [campaign, customer] = await Promise.all([
    findCampaign(deps.db, projectId, campaignId),
    findCustomer(deps, customerId, call),
  ]);
  if (campaign?.type !== "LOYALTY_PROGRAM" || customer === undefined) return;
  try {
    await publishOnce(deps, { customer, campaign, call });
  } catch (error) {
    if (!(error instanceof ApiError) || error.key === "deadline_exceeded") throw error;
    deps.onError(
      new Error(`customer ${customerId} gets no card of ${campaignId}`, { cause: error }),
    );
  }
}
