export {
  checkPublishable,
  type DeadLetter,
  type DeadLetterFilter,
  type DeliveredEvent,
  type DeliveryContext,
  type EventBus,
  type EventEnvelope,
  type EventHandler,
  MAX_EVENT_BYTES,
  MAX_PUBLISH_EVENTS,
  type PartitionLag,
  type SubscribeOptions,
  type Subscription,
  UnpublishableEvent,
} from "./bus.ts";
export { inboxHandler, inboxTable, type InboxWork } from "./inbox.ts";
export { causedMessages, eventMessage } from "./event-message.ts";
export {
  eventSourceOf,
  INTERNAL,
  type Origin,
  type OriginCaller,
  originFromStored,
  originHeaders,
  originOf,
  originToStored,
  projectVersionOf,
  storedHeaders,
} from "./origin.ts";
export { countPending, enqueue, type OutboxEvent, publishPending } from "./outbox.ts";
export { outboxTable } from "./outbox-table.ts";
export {
  createEventBus,
  type EventBusOptions,
  type EventLog,
  readEventLog,
  withEventBus,
} from "./process-bus.ts";
export { type KafkaConnection, readKafkaConnection } from "./kafka/settings.ts";
export { readRetainedEvents } from "./pg/log.ts";
export {
  EVENTS_MIGRATIONS,
  EVENTS_ROLE,
  EVENTS_SCHEMA,
  OUTBOX_READER,
} from "./pg/events-schema.ts";
export type { LogRetention } from "./pg/log-retention.ts";
export { createPgEventBus, type PgEventBus, type PgEventBusOptions } from "./pg/pg-event-bus.ts";
export { createKafkaEventBus, type KafkaEventBusOptions } from "./kafka/kafka-event-bus.ts";
export { republishSince } from "./republish.ts";
export { isTransient } from "./transient.ts";
export { type Relay, type RelayOptions, startRelay } from "./relay.ts";
