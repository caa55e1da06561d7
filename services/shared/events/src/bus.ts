import type { Queryable } from "@scrip/postgres";

/**
 * A fact that a service publishes. Delivery is at least once: an event may arrive again, with the
 * same id.
 */
export type EventEnvelope = {
  /** Unique within the project; consumers detect repetitions by it. */
  readonly id: string;
  readonly topic: string;
  /** The ordering key: events of one key arrive in their order. */
  readonly key: string;
  readonly projectId: string;
  /** The full name of the message in the payload. */
  readonly type?: string;
  /** Version of the message; absent: the first one. */
  readonly schemaVersion?: number;
  /** Version of the entity of the key after the change; absent if the entity has no versions. */
  readonly entityVersion?: bigint;
  /**
   * History of the publishing database, counted up after each restore of a backup (docs/operations.md#kafka). Absent:
   * the first one.
   */
  readonly epoch?: number;
  readonly payload: Uint8Array;
  /** The origin (see `originOf`), where it is known, and `traceparent`, where the request is traced. */
  readonly headers: Readonly<Record<string, string>>;
  readonly occurredAt: Date;
};

/** An event as a consumer receives it. */
export type DeliveredEvent = EventEnvelope & {
  readonly partition: number;
  readonly offset: bigint;
};

export type DeliveryContext = {
  readonly group: string;
  readonly topic: string;
  /**
   * Aborts when a partition of the batch is assigned to another member, or the time to close is
   * over.
   */
  readonly signal: AbortSignal;
  /** Counts events of the batch that the consumer had handled before. */
  readonly onDuplicates?: (events: number) => void;
};

/**
 * Handles events of one topic, those of each key in their order. When it resolves, all of them are
 * done, and come again only after a crash. When it throws, none is: transient failures are retried
 * for as long as they last; after other failures the batch is split until the failing event is
 * alone, which goes to the dead letters after a few attempts. So a handler works in one transaction
 * (see `handleBatch`).
 */
export type EventHandler = (
  batch: readonly DeliveredEvent[],
  context: DeliveryContext,
) => Promise<void>;

export type SubscribeOptions = {
  readonly group: string;
  readonly topics: readonly string[];
  readonly handler: EventHandler;
};

export type Subscription = {
  /** Looks for new events now: those of other processes otherwise arrive with the next poll. */
  readonly poll: () => void;
  /** Lets handlers finish within `deadlineMs`, stores the offsets and releases the partitions. */
  readonly close: (deadlineMs: number) => Promise<void>;
};

export type PartitionLag = {
  readonly topic: string;
  readonly partition: number;
  readonly behind: bigint;
};

export type DeadLetter = {
  /** The group that could not handle the event. */
  readonly group: string;
  readonly event: DeliveredEvent;
  readonly error: string;
  readonly attempts: number;
  readonly buriedAt: Date;
};

/** Which dead letters to list; all of them by default. */
export type DeadLetterFilter = {
  readonly group?: string;
  readonly topic?: string;
  readonly partition?: number;
  readonly offset?: bigint;
};

/** An event in the outbox of a service. */
export type OutboxEntry = {
  readonly seq: bigint;
  readonly topic: string;
  readonly partition: number;
  /** Bytes of the payload. */
  readonly size: number;
  readonly createdAt: Date;
};

/** The rows of an outbox that are not published. */
export type Unpublished = {
  /** When the oldest one was written; null without any. */
  readonly since: Date | null;
  /** Their number; of the first 20,000 rows only when there are more. */
  readonly rows: number;
};

/** An outbox that consumers read in place. */
export type ReadableOutbox = {
  /** Appends the entries in their order, as `publish` does with events. */
  readonly publish: (entries: readonly OutboxEntry[]) => Promise<void>;
};

/** The port of the event log (docs/events.md#delivery). Its adapters pass `eventBusConformance`. */
export type EventBus = {
  /**
   * Appends the events in their order. All of them are durable when it resolves. When it throws, some may
   * be: the caller publishes the batch again. Only an `UnpublishableEvent` means that none is.
   */
  readonly publish: (batch: readonly EventEnvelope[]) => Promise<void>;
  /**
   * Undefined when consumers cannot read the outbox of this database; then its events are copied to the log with
   * `publish`, as they are without this function.
   */
  readonly openOutbox?: (outbox: Queryable) => Promise<ReadableOutbox | undefined>;
  /**
   * Time at which the oldest entry of an outbox that some group has not handled was written; null if all are handled.
   * Includes entries of outboxes that cannot be opened now or any more.
   */
  readonly unhandledSince?: () => Promise<Date | null>;
  /** A new group starts at the oldest retained entry. */
  readonly subscribe: (options: SubscribeOptions) => Promise<Subscription>;
  /**
   * The number of unhandled events per partition of the group's topics; partitions without any are
   * left out.
   */
  readonly lag: (group: string) => Promise<readonly PartitionLag[]>;
  /** The oldest events, at most `limit`, that groups could not handle. */
  readonly deadLetters: (filter: DeadLetterFilter, limit: number) => Promise<readonly DeadLetter[]>;
  /** The number of dead letters of each group that has any, up to a bound. */
  readonly countDeadLetters: () => Promise<ReadonlyMap<string, number>>;
  /** Age in seconds of the oldest unhandled event of each group; absent in Kafka, where `backlogs` counts events. */
  readonly delays?: () => Promise<ReadonlyMap<string, number>>;
  /** The number of unhandled events of each group that subscribed here; absent where `delays` is present. */
  readonly backlogs?: () => Promise<ReadonlyMap<string, number>>;
  /** Includes an outbox in the metrics of the process until the returned function is called. */
  readonly watchOutbox?: (readUnpublished: () => Promise<Unpublished>) => () => void;
  /**
   * Publishes a dead letter again and deletes it. All groups receive it; those that handled it
   * recognise its id. It follows all events published since, regardless of its key.
   */
  readonly replay: (letter: DeadLetter) => Promise<void>;
  /**
   * Closes all subscriptions at the same time, within one deadline. A process does so before its services end: one after the
   * other, each would wait for a response of its broker.
   */
  readonly closeSubscriptions: (deadlineMs: number) => Promise<void>;
  /** Closes all subscriptions within one deadline, and then the connection to the log. */
  readonly close: (deadlineMs: number) => Promise<void>;
};

/** Maximum number of events in one `publish`. */
export const MAX_PUBLISH_EVENTS = 1_000;

/**
 * Payload, key and headers together: brokers commonly limit a message to 1 MiB with their own
 * overhead.
 */
export const MAX_EVENT_BYTES = 1_000_000;

/** An event that no attempt will ever publish. Nothing of its batch was published. */
export class UnpublishableEvent extends Error {
  readonly eventId: string;

  constructor(eventId: string, reason: string) {
    super(`event ${eventId} cannot be published: ${reason}`);
    this.name = "UnpublishableEvent";
    this.eventId = eventId;
  }
}

/** Rejects an invalid batch before any of it is published. */
export function checkPublishable(batch: readonly EventEnvelope[]): void {
  if (batch.length > MAX_PUBLISH_EVENTS) {
    throw new RangeError(`a batch holds at most ${MAX_PUBLISH_EVENTS} events`);
  }
  for (const event of batch) {
    if (event.topic === "") throw new UnpublishableEvent(event.id, "it has no topic");
    const bytes = sizeOf(event);
    if (bytes > MAX_EVENT_BYTES) {
      throw new UnpublishableEvent(event.id, `${bytes} bytes are over ${MAX_EVENT_BYTES}`);
    }
  }
}

function sizeOf(event: EventEnvelope): number {
  let bytes = event.payload.byteLength + Buffer.byteLength(event.key);
  for (const [name, value] of Object.entries(event.headers)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  }
  return bytes;
}
