import { currentTime } from "@scrip/clock";
import type { Metrics } from "@scrip/telemetry";

import type { EventBus, Unpublished } from "./bus.ts";
import { within } from "./deadline.ts";

/** How long the metrics wait for a database. */
const WAIT_MS = 1_000;

/**
 * The bus, with metrics of what is late (docs/operations.md#metrics), those of all processes in each of them, and of
 * duplicates.
 */
export function reportEvents(bus: EventBus, metrics: Metrics): EventBus {
  const outboxes = new Set<() => Promise<Unpublished>>();
  const unpublished = newest(
    () => Promise.all([...outboxes].map(async (readUnpublished) => readUnpublished())),
    [],
  );
  metrics.gauge({
    name: "outbox_oldest_seconds",
    help: "Age of the oldest event that is not published, in the outboxes of this process",
    merged: "max",
    read: async () => {
      const ages = (await unpublished()).map(({ since }) =>
        since === null ? 0 : (currentTime() - since.getTime()) / 1_000,
      );
      return Math.max(0, ...ages);
    },
  });
  metrics.gauge({
    name: "outbox_rows",
    help: "Events that are not published, in the outboxes of this process; at most 20,000 of each",
    merged: "max",
    read: async () => (await unpublished()).reduce((sum, { rows }) => sum + rows, 0),
  });
  measureGroups(bus, metrics);
  const duplicates = metrics.counter({
    name: "inbox_duplicates_total",
    help: "Events that a group received again after it had handled them",
    labels: ["group"],
  });
  return {
    ...bus,
    subscribe({ group, handler, ...options }) {
      const child = duplicates.labels(group);
      // So that the first duplicate is an increase.
      child.inc(0);
      const onDuplicates = (events: number): void => child.inc(events);
      return bus.subscribe({
        ...options,
        group,
        handler: (batch, context) => handler(batch, { ...context, onDuplicates }),
      });
    },
    watchOutbox(readUnpublished) {
      outboxes.add(readUnpublished);
      return () => outboxes.delete(readUnpublished);
    },
  };
}

/** Gauges with a figure for each consumer group. */
function measureGroups(bus: EventBus, metrics: Metrics): void {
  metrics.gauges({
    name: "consumer_lag_seconds",
    help: "Since when the oldest event that a group has not handled is published",
    label: "group",
    merged: "max",
    read: newest(async () => (await bus.delays?.()) ?? new Map(), new Map()),
  });
  metrics.gauges({
    name: "consumer_lag_events",
    help: "Events in Kafka that a group of this process has not handled",
    label: "group",
    merged: "max",
    read: newest(async () => (await bus.backlogs?.()) ?? new Map(), new Map()),
  });
  metrics.gauges({
    name: "dead_letters",
    help: "Events that a group could not handle",
    label: "group",
    merged: "max",
    read: newest(bus.countDeadLetters, new Map()),
  });
}

/** Reads a figure, or repeats the last one while the database is slow or unavailable. */
function newest<Figure>(read: () => Promise<Figure>, initial: Figure): () => Promise<Figure> {
  let last = initial;
  let reading: Promise<void> | undefined;
  const refresh = async (): Promise<void> => {
    try {
      last = await read();
    } catch {
      // Readiness reports the unavailable database.
    } finally {
      reading = undefined;
    }
  };
  return async () => {
    await within((reading ??= refresh()), WAIT_MS);
    return last;
  };
}
