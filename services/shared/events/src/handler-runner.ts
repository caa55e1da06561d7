import type { Database } from "@scrip/postgres";
import { currentTracing } from "@scrip/telemetry";

import type { DeliveredEvent, EventHandler, SubscribeOptions } from "./bus.ts";
import { deliver, type DeliveryPolicy } from "./delivery.ts";
import { createLimiter } from "./limiter.ts";
import { insertDeadLetter } from "./pg/dead-letters.ts";

export type HandlerRunnerOptions = Pick<SubscribeOptions, "group" | "handler"> & {
  readonly db: Database;
  readonly onError: (error: Error) => void;
  readonly policy: DeliveryPolicy;
  /** Number of partitions that are handled concurrently. */
  readonly concurrency: number;
};

/** A partition that this process reads. */
export type ReadPartition = {
  readonly topic: string;
  readonly partition: number;
  /** Ends the delivery when the partition is lost. */
  readonly lost: AbortController;
};

/** The entries read from a partition. */
export type Fetched<Partition extends ReadPartition = ReadPartition> = {
  readonly partition: Partition;
  readonly batch: readonly DeliveredEvent[];
};

/**
 * Passes entries to the handler of a group. Partitions with few events are handled together in one
 * transaction of the handler; when that fails, each continues alone.
 */
export type HandlerRunner = {
  /**
   * Handles the events of several partitions of one topic; returns whether all of them are done.
   */
  readonly handleTogether: (fetchedGroup: readonly Fetched[]) => Promise<boolean>;
  /** Continues until all events of the partition are handled or dead letters. */
  readonly handleAlone: (fetched: Fetched) => Promise<void>;
};

/** Once `closing` aborts, no handler is retried. */
export function createHandlerRunner(
  options: HandlerRunnerOptions,
  closing: AbortSignal,
): HandlerRunner {
  const { db, group, onError, policy } = options;
  const handler = tracedHandler(options.handler);
  const limit = createLimiter(options.concurrency);
  return {
    async handleTogether(fetchedGroup) {
      const topic = fetchedGroup[0]?.partition.topic ?? "";
      const signal = AbortSignal.any(fetchedGroup.map(({ partition }) => partition.lost.signal));
      try {
        await limit(async () => {
          signal.throwIfAborted();
          closing.throwIfAborted();
          await handler(
            fetchedGroup.flatMap(({ batch }) => batch),
            { group, topic, signal },
          );
        });
        return true;
      } catch {
        // The failing partition fails again alone, and is reported then.
        return false;
      }
    },
    handleAlone({ partition: { topic, lost }, batch }) {
      const signal = AbortSignal.any([lost.signal, closing]);
      return deliver(batch, {
        handle: (events) =>
          limit(() => {
            signal.throwIfAborted();
            return handler(events, { group, topic, signal: lost.signal });
          }),
        storeDeadLetter: async (event, error, attempts) => {
          await insertDeadLetter(db, { group, event, error, attempts });
          onError(new Error(`event ${event.id} moved to the dead letters of ${group}`));
        },
        onError,
        policy,
        signal,
      });
    },
  };
}

/** Spans of the events that traced requests caused, linked to them; without tracing, the handler itself. */
function tracedHandler(handler: EventHandler): EventHandler {
  const tracing = currentTracing();
  if (tracing === undefined) return handler;
  return (batch, context) => {
    const links = tracesOf(batch);
    if (links.length === 0) return handler(batch, context);
    const { topic, group } = context;
    const attributes = {
      "messaging.operation.type": "process",
      "messaging.destination.name": topic,
      "messaging.consumer.group.name": group,
      "messaging.batch.message_count": batch.length,
    };
    const name = `process ${topic}`;
    return tracing.inSpan({ name, kind: "consumer", parent: null, links, attributes }, () =>
      handler(batch, context),
    );
  };
}

/** As many links as a span retains. */
const MAX_LINKS = 128;

function tracesOf(batch: readonly DeliveredEvent[]): readonly string[] {
  const traces = new Set<string>();
  for (const { headers } of batch) {
    const { traceparent } = headers;
    if (traceparent !== undefined) traces.add(traceparent);
    if (traces.size === MAX_LINKS) break;
  }
  return [...traces];
}

/**
 * In the order of reading: of one topic, and at most as many events as a handler receives at once.
 */
export function groupSmallBatches<Partition extends ReadPartition>(
  fetched: readonly Fetched<Partition>[],
  maxEvents: number,
): readonly (readonly Fetched<Partition>[])[] {
  const groups: Fetched<Partition>[][] = [];
  let events = 0;
  for (const one of fetched) {
    const fetchedGroup = groups.at(-1);
    events += one.batch.length;
    if (fetchedGroup?.[0]?.partition.topic === one.partition.topic && events <= maxEvents)
      fetchedGroup.push(one);
    else {
      groups.push([one]);
      events = one.batch.length;
    }
  }
  return groups;
}
