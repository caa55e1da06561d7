import {
  type DeliveredEvent,
  type EventBus,
  type EventHandler,
  eventMessage,
  type Subscription,
} from "@scrip/events";
import type { Database } from "@scrip/postgres";
import { afterProjects } from "@scrip/projects";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";
import { type FindProject, ownCall, startPeriodicJob } from "@scrip/rpc";

import type { Clients } from "../clients.ts";
import { eraseDeliveries } from "../store/erased-deliveries.ts";
import { insertDeliveries, type NewDelivery } from "../store/webhook-deliveries.ts";
import { findSubscribers, hasWebhooks, type Subscriber } from "../store/webhooks.ts";
import { completeData } from "./complete-data.ts";
import { WEBHOOK_TOPICS, type WebhookEvent, webhookEventsOf } from "./event-sources.ts";
import { newDelivery } from "./new-delivery.ts";

export type WebhookSubscriptionOptions = {
  readonly db: Database;
  readonly bus: EventBus;
  readonly clients: Clients;
  readonly findProject: FindProject;
  /** Called when deliveries were stored. */
  readonly onStored: () => void;
  readonly onError: (error: Error) => void;
};

/** The consumer group whose events become deliveries. */
export const WEBHOOK_GROUP = "export-webhooks";
/** How often a process looks whether there is a first webhook. */
const LOOK_MS = 1_000;
/** How many looks there are for each one at the consumer group. */
const LOOKS_PER_GROUP = 60;
const CLOSE_MS = 3_000;

/**
 * Stores a delivery for each event and each webhook that receives it. Installations without webhooks do not read
 * events: the subscription begins with the first webhook, and later finds the events since then in the log. After the last
 * webhook was deleted, events are still read: the log keeps what a group has not read.
 */
export function startWebhookSubscription(options: WebhookSubscriptionOptions): AsyncDisposable {
  const { db, bus } = options;
  let subscription: Subscription | undefined;
  let looks = 0;
  const looking = startPeriodicJob({
    everyMs: LOOK_MS,
    work: async (signal) => {
      if (subscription !== undefined || signal.aborted) return;
      const hasGroup =
        looks++ % LOOKS_PER_GROUP === 0 && (await bus.delays?.())?.has(WEBHOOK_GROUP);
      if (hasGroup !== true && !(await hasWebhooks(db))) return;
      subscription = await bus.subscribe({
        group: WEBHOOK_GROUP,
        topics: WEBHOOK_TOPICS,
        handler: afterProjects(options.findProject, onEvents(options)),
      });
    },
    onError: options.onError,
  });
  return {
    [Symbol.asyncDispose]: async () => {
      await looking[Symbol.asyncDispose]();
      await subscription?.close(CLOSE_MS);
    },
  };
}

/** An event with the webhooks that receive it, by the name under which they do. */
type Matched = {
  readonly event: DeliveredEvent;
  readonly seen: WebhookEvent;
  readonly receivers: readonly { readonly name: string; readonly webhook: Subscriber }[];
};

/** Changes of a customer have the key of their deletion, so they were stored before it. */
const onEvents =
  (options: WebhookSubscriptionOptions): EventHandler =>
  async (batch) => {
    await storeDeliveries(options, batch);
    for (const event of batch) {
      const deleted = eventMessage(event, CustomerDeletedSchema);
      if (deleted?.permanent === true) await eraseDeliveries(options.db, deleted);
    }
  };

async function storeDeliveries(
  options: WebhookSubscriptionOptions,
  batch: readonly DeliveredEvent[],
): Promise<void> {
  const { db, onStored } = options;
  const subscribers = await findSubscribers(db, [
    ...new Set(batch.map(({ projectId }) => projectId)),
  ]);
  if (subscribers.length === 0) return;
  const matched = batch.flatMap((event) => matchEvent(event, subscribers, options.clients));
  if (matched.length === 0) return;
  const deliveries = await inOrder(matched, (each) => buildDeliveries(options, each));
  await db.transaction((tx) => insertDeliveries(tx, deliveries.flat()));
  onStored();
}

function matchEvent(
  event: DeliveredEvent,
  subscribers: readonly Subscriber[],
  clients: Clients,
): readonly Matched[] {
  const candidates = subscribers.filter(
    (each) => each.project_id === event.projectId && each.since <= event.occurredAt,
  );
  if (candidates.length === 0) return [];
  return webhookEventsOf(event, clients).flatMap((seen) => {
    const receivers = seen.names.flatMap((name) =>
      candidates
        .filter(({ events }) => events.includes(name))
        .map((webhook) => ({ name, webhook })),
    );
    return receivers.length === 0 ? [] : [{ event, seen, receivers }];
  });
}

const LOADS = 8;

/** Loads several at a time, and keeps their order: sequence numbers follow it. */
async function inOrder<Item, Result>(
  items: readonly Item[],
  load: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += LOADS)
    results.push(...(await Promise.all(items.slice(start, start + LOADS).map(load))));
  return results;
}

async function buildDeliveries(
  { clients, findProject }: WebhookSubscriptionOptions,
  { event, seen, receivers }: Matched,
): Promise<readonly NewDelivery[]> {
  const call = await ownCall(findProject, { service: "export", projectId: event.projectId });
  if (call === undefined) return [];
  const data = await completeData(clients, await seen.loadData(call), call);
  return receivers.map(({ name, webhook }) => newDelivery({ name, event, seen, webhook, data }));
}
