import { randomUUID } from "node:crypto";

import type { Redis } from "ioredis";

/** Messages between the processes of an installation. Messages sent while Redis is unavailable are lost. */
export type Messages = Disposable & {
  /** Resolves when Redis has sent the message to its subscribers; never rejects. */
  readonly publish: (channel: string, message: object) => Promise<void>;
  /** `listener` gets the messages of other processes. Redis may be shared: it checks what it gets. */
  readonly subscribe: (channel: string, listener: (message: unknown) => void) => void;
};

const SUBSCRIBE_TIMEOUT_MS = 10_000;

export function createMessages(redis: Redis, onError: (error: unknown) => void): Messages {
  const self = randomUUID();
  const listeners = new Map<string, (message: unknown) => void>();
  // A connection that subscribes can do nothing else.
  // Losing a subscription to a short pause would cost more than waiting.
  const subscriber = redis.duplicate({ commandTimeout: SUBSCRIBE_TIMEOUT_MS });
  const subscribe = (...channels: readonly string[]): void => {
    if (channels.length > 0) subscriber.subscribe(...channels).catch(onError);
  };
  subscriber.on("error", onError);
  subscriber.on("ready", () => subscribe(...listeners.keys()));
  subscriber.on("message", (channel: string, text: string) => {
    const { from, message } = parse(text);
    if (from !== self && message !== undefined) listeners.get(channel)?.(message);
  });
  return {
    async publish(channel, message) {
      await redis.publish(channel, JSON.stringify({ from: self, message })).catch(onError);
    },
    subscribe(channel, listener) {
      listeners.set(channel, listener);
      if (subscriber.status === "ready") subscribe(channel);
    },
    [Symbol.dispose]: () => subscriber.disconnect(),
  };
}

function parse(text: string): { readonly from?: unknown; readonly message?: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
