import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import type { DeliveredEvent, EventBus, EventEnvelope, EventHandler } from "@scrip/events";
import { startTcpProxy } from "@scrip/testing";

/** The broker under test. */
export type Broker = AsyncDisposable & {
  /** The bus of one more process, with short leases and pauses, so that tests are quick. */
  readonly connect: () => Promise<TestedBus>;
};

export type TestedBus = EventBus & {
  /** Drops everything as a killed process does. */
  readonly crash: () => Promise<void>;
  /** Ends the connections to the broker, and rejects new ones until `reconnect`. */
  readonly disconnect: () => Promise<void>;
  readonly reconnect: () => Promise<void>;
  /** Lets the connections hang, without an error, until `thaw`. */
  readonly freeze: () => void;
  readonly thaw: () => void;
};

/** Lets a test break the connections of one bus; `open` connects through the given port. */
export async function throughProxy(
  target: { readonly host: string; readonly port: number },
  open: (port: number) => Promise<EventBus>,
): Promise<TestedBus> {
  const proxy = await startTcpProxy(target);
  const bus = await open(proxy.port);
  return {
    ...bus,
    async crash() {
      await proxy.close();
      await bus.close(0);
    },
    disconnect: proxy.close,
    reconnect: proxy.open,
    freeze: proxy.freeze,
    thaw: proxy.thaw,
    async close(deadlineMs) {
      await bus.close(deadlineMs);
      await proxy[Symbol.asyncDispose]();
    },
  };
}

export const CLOSE_MS = 20_000;

/** Far longer than anything here takes, so that only hanging work reaches it. */
const PATIENCE_MS = 60_000;
const POLL_MS = 15;

/** Waits until the check passes. Unlike `expect.poll`, also within tests that run side by side. */
export async function soon(check: () => void | Promise<void>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await pause(POLL_MS);
  }
}

/** Unique names, so that the tests of one broker do not interfere. */
export const newTopic = (): string => `scrip.test.${randomUUID()}.v1`;
export const newGroup = (): string => `group-${randomUUID()}`;

/** Recent: brokers delete records that are older than the retention, within minutes. */
const FIRST_AT = Date.now();

export function buildEvent(topic: string, key: string, nth: number): EventEnvelope {
  return {
    id: `${key}-${nth}`,
    topic,
    key,
    projectId: "proj_1",
    type: "scrip.test.v1.Happened",
    payload: Buffer.from(String(nth)),
    headers: {},
    occurredAt: new Date(FIRST_AT + nth),
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
