import { randomUUID } from "node:crypto";

import type { DeliveredEvent, EventBus, EventEnvelope, EventHandler } from "@scrip/events";
import { expect } from "vitest";

/** The broker under test. */
export type Broker = AsyncDisposable & {
  /** The bus of one more process, with short leases and pauses, so that tests are quick. */
  readonly connect: () => Promise<TestedBus>;
};

export type TestedBus = EventBus & {
  /** Drops everything as a killed process does. */
  readonly crash: () => Promise<void>;
};

export const CLOSE_MS = 20_000;

/** Far longer than anything here takes, so that only hanging work reaches it. */
const PATIENCE_MS = 60_000;

export const soon = (check: () => void | Promise<void>): Promise<void> =>
  expect
    .poll(
      async () => {
        try {
          await check();
          return "as expected";
        } catch (error) {
          return error instanceof Error ? error.message : String(error);
        }
      },
      { timeout: PATIENCE_MS, interval: 15 },
    )
    .toBe("as expected");

/** Unique names, so that the tests of one broker do not interfere. */
export const newTopic = (): string => `scrip.test.${randomUUID()}.v1`;
export const newGroup = (): string => `group-${randomUUID()}`;

export function buildEvent(topic: string, key: string, nth: number): EventEnvelope {
  return {
    id: `${key}-${nth}`,
    topic,
    key,
    projectId: "proj_1",
    type: "scrip.test.v1.Happened",
    payload: Buffer.from(String(nth)),
    headers: {},
    occurredAt: new Date(1_700_000_000_000 + nth),
  };
}

export const buildEvents = (topic: string, key: string, count: number): EventEnvelope[] =>
  Array.from({ length: count }, (_, index) => buildEvent(topic, key, index + 1));

/** A handler that records its events. */
export function recorder(): { readonly seen: DeliveredEvent[]; readonly handler: EventHandler } {
  const seen: DeliveredEvent[] = [];
  return {
    seen,
    handler: async (batch) => {
      seen.push(...batch);
    },
  };
}

export const idsOf = (events: readonly { readonly id: string }[]): string[] =>
  events.map((event) => event.id);

/** The ids of each key in the order of arrival, without repetitions. */
export function firstSeenByKey(events: readonly EventEnvelope[]): Record<string, string[]> {
  const byKey: Record<string, string[]> = {};
  for (const { key, id } of events) {
    const ids = (byKey[key] ??= []);
    if (!ids.includes(id)) ids.push(id);
  }
  return byKey;
}

export const inOrderByKey = (keys: readonly string[], count: number): Record<string, string[]> =>
  Object.fromEntries(keys.map((key) => [key, idsOf(buildEvents("", key, count))]));

/** The error of a broken connection to the database. */
export const passingTrouble = (): Error =>
  Object.assign(new Error("the connection was refused"), { code: "ECONNREFUSED" });
