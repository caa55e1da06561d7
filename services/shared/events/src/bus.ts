/** A fact of a service on its way to others. At-least-once: an event may arrive again, with its id. */
export type EventEnvelope = {
  /** Unique within the project; consumers know a repeat by it. */
  readonly id: string;
  readonly topic: string;
  /** What the events of a topic are ordered by: the events of one key arrive in their order. */
  readonly key: string;
  readonly projectId: string;
  /** The full name of the message in the payload. */
  readonly type?: string;
  readonly payload: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly occurredAt: Date;
};

/** An event as it is handed to a consumer. */
export type DeliveredEvent = EventEnvelope & {
  readonly partition: number;
  readonly offset: bigint;
};

export type DeliveryContext = {
  readonly group: string;
  readonly topic: string;
  /** Aborts when a partition of the batch went to another member or the time to close is up. */
  readonly signal: AbortSignal;
};

/**
 * Handles events of one topic, those of each key in their order. When it resolves, all of them are done and will
 * not come again but after a crash. When it throws, none is: a passing trouble is tried again for as
 * long as it lasts; otherwise the batch is split until the culprit stands alone, and that one goes to
 * the dead letters after a few attempts. So a handler works in one transaction (see `handleBatch`).
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
  /** Lets the handlers finish within `deadlineMs`, keeps how far they came and gives the partitions back. */
  readonly close: (deadlineMs: number) => Promise<void>;
};

export type PartitionLag = {
  readonly topic: string;
  readonly partition: number;
  readonly behind: bigint;
};

export type DeadLetter = {
  readonly event: DeliveredEvent;
  readonly error: string;
  readonly attempts: number;
  readonly buriedAt: Date;
};

/** The port to the event log. Its adapters pass `eventBusConformance`. */
export type EventBus = {
  /** Appends the events in their order. All of them are durable when it resolves; throws otherwise. */
  readonly publish: (batch: readonly EventEnvelope[]) => Promise<void>;
  /** A group that is new reads from the oldest entry kept. */
  readonly subscribe: (options: SubscribeOptions) => Promise<Subscription>;
  /** How many events of its topics the group has yet to handle; partitions without any are left out. */
  readonly lag: (group: string) => Promise<readonly PartitionLag[]>;
  /** The oldest events, at most `limit`, that the group could not handle. */
  readonly deadLetters: (group: string, limit: number) => Promise<readonly DeadLetter[]>;
  /**
   * Publishes a dead letter again and strikes it off. All groups see it; those that handled it know it
   * by its id. It comes after what was published meanwhile, whatever its key.
   */
  readonly replay: (group: string, letter: DeadLetter) => Promise<void>;
  /** Closes the subscriptions, all by the same deadline, and lets go of the log. */
  readonly close: (deadlineMs: number) => Promise<void>;
};

/** How many events one `publish` takes. */
export const MAX_PUBLISH_EVENTS = 1_000;

/** Payload, key and headers together: a broker's usual limit is 1 MiB with its own overhead. */
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

/** Refuses a batch before any of it is on its way. */
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
