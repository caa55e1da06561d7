import type { Metrics } from "@scrip/telemetry";

import type { EventBus } from "./bus.ts";
import { within } from "./deadline.ts";

/** How long the metrics wait for a database. */
const WAIT_MS = 1_000;

/** The bus, with metrics of what is late (docs/operations.md#metrics): those of all processes, in each of them. */
export function reportLateEvents(bus: EventBus, metrics: Metrics): EventBus {
  const outboxes = new Set<() => Promise<Date | null>>();
  metrics.gauge({
    name: "outbox_oldest_seconds",
    help: "Age of the oldest event that is not published, in the outboxes of this process",
    merged: "max",
    read: newest(async () => {
      const times = await Promise.all(
        [...outboxes].map(async (unpublishedSince) => unpublishedSince()),
      );
      return Math.max(
        0,
        ...times.map((since) => (since === null ? 0 : (Date.now() - since.getTime()) / 1_000)),
      );
    }, 0),
  });
  metrics.gauges({
    name: "consumer_lag_seconds",
    help: "Since when the oldest event that a group has not handled is published",
    label: "group",
    merged: "max",
    read: newest(async () => (await bus.delays?.()) ?? new Map(), new Map()),
  });
  metrics.gauges({
    name: "dead_letters",
    help: "Events that a group could not handle",
    label: "group",
    merged: "max",
    read: newest(bus.countDeadLetters, new Map()),
  });
  return {
    ...bus,
    watchOutbox(unpublishedSince) {
      outboxes.add(unpublishedSince);
      return () => outboxes.delete(unpublishedSince);
    },
  };
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
