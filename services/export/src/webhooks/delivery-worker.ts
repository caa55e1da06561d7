import { setTimeout as sleep } from "node:timers/promises";

import type { Database } from "@scrip/postgres";

import { pauseAfter } from "../domain/webhook-retries.ts";
import type { DeliveryOutcome } from "../monitoring/export-metrics.ts";
import {
  claimDeliveries,
  type ClaimedDelivery,
  hasDueDeliveries,
} from "../store/webhook-claims.ts";
import { type AttemptResult, storeAttempt } from "../store/webhook-deliveries.ts";
import type { WebhookSender } from "./send-request.ts";
import { signBody } from "./sign-body.ts";
import type { WebhookSettings } from "./webhook-settings.ts";

export type DeliveryWorkerOptions = {
  readonly db: Database;
  readonly sender: WebhookSender;
  readonly settings: WebhookSettings;
  /** Called after each request. */
  readonly onAttempt?: (outcome: DeliveryOutcome) => void;
  readonly onError: (error: Error) => void;
};

export type DeliveryWorker = AsyncDisposable & {
  /** Looks for due deliveries now, instead of within a second. */
  readonly wake: () => void;
};

/** Requests in flight of this process. */
const MAX_REQUESTS = 256;
/** A receiver that responds has at most this many of them. */
const MAX_PER_WEBHOOK = 16;
/**
 * Deliveries claimed together, of which bulk work gets a share. A receiver whose last request failed or took longer than a
 * second gets no more than these.
 */
const PER_CLAIM = 4;
const SLOW_MS = 1_000;
const POLL_MS = 1_000;

/** Longer than an attempt with its result takes: after that, another process repeats it. */
const LEASE_MS = 30_000;

/**
 * Sends due deliveries until disposed; then it waits for the requests in flight. Each webhook has its own bound of
 * requests, so a receiver that does not respond delays only itself.
 */
export function startDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const stopping = new AbortController();
  const { signal } = stopping;
  const requests = createRequests(options);
  let wakeUp = Promise.withResolvers<void>();
  const wake = (): void => wakeUp.resolve();
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      // Before the claim: deliveries that become due during it are claimed next.
      wakeUp = Promise.withResolvers();
      const claimed = await claim(options, requests).catch((error: Error) => {
        options.onError(error);
        return [];
      });
      for (const delivery of claimed) requests.start(delivery, wake);
      if (claimed.length === 0)
        await Promise.race([wakeUp.promise, sleep(POLL_MS, undefined, { signal }).catch(() => {})]);
    }
  };
  const running = run();
  return {
    wake,
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await running;
      await requests.end();
    },
  };
}

/** Claims as many deliveries as there is room for. */
async function claim(
  { db }: DeliveryWorkerOptions,
  requests: Requests,
): Promise<readonly ClaimedDelivery[]> {
  const free = MAX_REQUESTS - requests.count();
  // Mostly there are none, which costs no transaction.
  if (free < PER_CLAIM || !(await hasDueDeliveries(db))) return [];
  return claimDeliveries(db, {
    webhooks: Math.floor(free / PER_CLAIM),
    perWebhook: PER_CLAIM,
    busy: requests.busyWebhooks(),
    leaseMs: LEASE_MS,
  });
}

type Requests = ReturnType<typeof createRequests>;

/** The requests in flight. */
function createRequests(options: DeliveryWorkerOptions) {
  const running = new Set<Promise<void>>();
  const inFlight = new Map<string, number>();
  const slow = new Set<string>();
  const add = (webhook: string, change: number): void => {
    const count = (inFlight.get(webhook) ?? 0) + change;
    if (count === 0) inFlight.delete(webhook);
    else inFlight.set(webhook, count);
  };
  const deliver = async (delivery: ClaimedDelivery): Promise<void> => {
    const { webhook_id: webhook } = delivery;
    add(webhook, 1);
    try {
      const { error, durationMs } = await attempt(options, delivery);
      if (error === null && durationMs < SLOW_MS) slow.delete(webhook);
      else slow.add(webhook);
    } catch (error) {
      options.onError(error as Error);
    } finally {
      add(webhook, -1);
    }
  };
  return {
    count: () => running.size,
    /** Webhooks that get no more deliveries for now. */
    busyWebhooks: () =>
      [...inFlight]
        .filter(([id, count]) => slow.has(id) || count + PER_CLAIM > MAX_PER_WEBHOOK)
        .map(([id]) => id),
    start: (delivery: ClaimedDelivery, onEnd: () => void): void => {
      const request = deliver(delivery).finally(() => {
        running.delete(request);
        onEnd();
      });
      running.add(request);
    },
    end: () => Promise.all(running),
  };
}

async function attempt(
  { db, sender, settings, onAttempt }: DeliveryWorkerOptions,
  delivery: ClaimedDelivery,
): Promise<AttemptResult> {
  const result = await sender.send({
    url: delivery.target_url,
    body: delivery.body,
    headers: {
      ...delivery.headers,
      "Content-Type": "application/json",
      "User-Agent": "Scrip",
      [settings.signatureHeader]: signBody(delivery.secret ?? "", delivery.body),
    },
  });
  const pause = result.error === null ? undefined : pauseAfter(delivery.failed_attempts + 1);
  await storeAttempt(db, delivery, result, pause);
  onAttempt?.(result.error === null ? "succeeded" : pause === undefined ? "failed" : "repeated");
  return result;
}
