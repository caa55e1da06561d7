import { setTimeout as sleep } from "node:timers/promises";

import { createClient, type Transport } from "@connectrpc/connect";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "@scrip/proto/grpc/health/v1/health_pb";

import { type CircuitBreaker, createCircuitBreaker } from "./circuit-breaker.ts";

/** A process of a service, as one of its callers sees it. */
export type Replica = Disposable & {
  readonly url: string;
  readonly transport: Transport;
  readonly breaker: CircuitBreaker;
  /** Calls in progress. */
  inFlight: number;
  /** Whether it has reported that it takes calls: not before that, nor once it is unreachable, not ready or about to stop. */
  readonly isServing: () => boolean;
  /** Call this when a call could not be sent. */
  readonly markUnreachable: () => void;
};

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 500;

export type ReplicaOptions = {
  readonly url: string;
  readonly transport: Transport;
  /** Replicas are expected to serve, so the first report is a change only if one does not. */
  readonly onChange: (url: string, isServing: boolean) => void;
};

/** Follows the health of a replica (`grpc.health.v1`): it reports immediately that it is about to stop. */
export function followReplica({ url, transport, onChange }: ReplicaOptions): Replica {
  const stopping = new AbortController();
  const breaker = createCircuitBreaker(() => performance.now());
  let isServing: boolean | undefined;
  const set = (next: boolean): void => {
    const isNews = next !== (isServing ?? true);
    if (isNews && !stopping.signal.aborted) onChange(url, next);
    // Calls that failed before it was down say nothing about the process that serves now.
    if (isNews && next) breaker.reset();
    isServing = next;
  };
  void follow(transport, stopping.signal, set);
  return {
    url,
    transport,
    breaker,
    inFlight: 0,
    isServing: () => isServing === true,
    markUnreachable: () => set(false),
    [Symbol.dispose]: () => stopping.abort(),
  };
}

async function follow(
  transport: Transport,
  signal: AbortSignal,
  set: (isServing: boolean) => void,
): Promise<void> {
  const health = createClient(Health, transport);
  let pause = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    try {
      for await (const { status } of health.watch({}, { signal })) {
        set(status === Status.SERVING);
        pause = FIRST_PAUSE_MS;
      }
    } catch {
      // Unreachable, or the connection broke.
    }
    set(false);
    await sleep(pause, undefined, { signal, ref: false }).catch(() => {});
    pause = Math.min(pause * 2, MAX_PAUSE_MS);
  }
}
