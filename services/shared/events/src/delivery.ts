import { setTimeout as pause } from "node:timers/promises";

import type { DeliveredEvent } from "./bus.ts";

export type DeliveryPolicy = {
  /** Whether a failure is transient, so that a retry suffices. */
  readonly isTransient: (error: unknown) => boolean;
  /** How often an event that fails alone is tried before it goes to the dead letters. */
  readonly attempts: number;
  readonly backOffMs: number;
  readonly maxBackOffMs: number;
};

export type Delivery = {
  readonly handle: (batch: readonly DeliveredEvent[]) => Promise<void>;
  /** Stores an event that cannot be handled; it must be durable when it resolves. */
  readonly storeDeadLetter: (
    event: DeliveredEvent,
    error: unknown,
    attempts: number,
  ) => Promise<void>;
  readonly onError: (error: Error) => void;
  readonly policy: DeliveryPolicy;
  readonly signal: AbortSignal;
};

/**
 * Delivers a batch to its handler until each event is handled or a dead letter, in their order.
 * Rejects only when `signal` aborts: the remaining events come again.
 *
 * Transient failures, such as a restarting database, are waited out: dead letters would multiply in
 * an outage. When one persists, the batch is halved too, since it may be too large for a time
 * limit. Any other failure halves the batch until the failing event is alone.
 */
export async function deliver(batch: readonly DeliveredEvent[], delivery: Delivery): Promise<void> {
  const { policy, signal } = delivery;
  let failures = 0;
  let transientFailures = 0;
  for (;;) {
    signal.throwIfAborted();
    try {
      await delivery.handle(batch);
      return;
    } catch (error) {
      signal.throwIfAborted();
      delivery.onError(asError(error));
      const passes = policy.isTransient(error);
      if (passes) transientFailures += 1;
      else failures += 1;
      const [only] = batch;
      if (only === undefined) throw error;
      if (batch.length > 1 && (!passes || transientFailures >= policy.attempts)) {
        await deliverInHalves(batch, delivery);
        return;
      }
      if (failures >= policy.attempts) {
        await storeUntilDone(only, error, failures, delivery);
        return;
      }
      await backOff(policy, passes ? transientFailures : failures, signal);
    }
  }
}

async function deliverInHalves(
  batch: readonly DeliveredEvent[],
  delivery: Delivery,
): Promise<void> {
  const middle = batch.length >> 1;
  await deliver(batch.slice(0, middle), delivery);
  await deliver(batch.slice(middle), delivery);
}

/** An event that is neither handled nor stored would be lost, so this retries without limit. */
async function storeUntilDone(
  event: DeliveredEvent,
  cause: unknown,
  attempts: number,
  delivery: Delivery,
): Promise<void> {
  for (let failures = 1; ; failures += 1) {
    try {
      await delivery.storeDeadLetter(event, cause, attempts);
      return;
    } catch (error) {
      delivery.signal.throwIfAborted();
      delivery.onError(asError(error));
      await backOff(delivery.policy, failures, delivery.signal);
    }
  }
}

async function backOff(
  policy: DeliveryPolicy,
  failures: number,
  signal: AbortSignal,
): Promise<void> {
  // Bounded, so that the exponent of a long outage does not overflow.
  const ms = Math.min(policy.backOffMs * 2 ** Math.min(failures - 1, 20), policy.maxBackOffMs);
  await pause(ms, undefined, { signal });
}

export const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));
