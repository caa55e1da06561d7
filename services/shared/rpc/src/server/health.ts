import { setTimeout as sleep } from "node:timers/promises";

import { create } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
  HealthCheckResponseSchema,
  HealthListResponseSchema,
} from "@scrip/proto/grpc/health/v1/health_pb";

import { OPEN_SERVICE_LIMITS } from "./guard-bodies.ts";
import type { UnreadyReason } from "./readiness.ts";

const CHECK_TIMEOUT_MS = 800;

/** Whether the process behind the transport can work, as `grpc.health.v1` reports it. */
export async function checkHealth(transport: Transport): Promise<UnreadyReason | undefined> {
  try {
    const { status } = await createClient(Health, transport).check(
      {},
      { timeoutMs: CHECK_TIMEOUT_MS },
    );
    return status === Status.SERVING ? undefined : "not_serving";
  } catch (error) {
    return ConnectError.from(error).code === Code.DeadlineExceeded ? "timeout" : "unreachable";
  }
}

/** Polling interval of Watch. The end of the process is reported at once. */
const WATCH_INTERVAL_MS = 5_000;

/** grpc.health.v1, for probes and load balancers; the empty name means the whole process. */
export function healthRoutes(
  router: ConnectRouter,
  options: {
    readonly services: readonly string[];
    /** False when the process is about to stop. */
    readonly isReady: () => Promise<boolean>;
    /** Aborted when the process is about to stop. */
    readonly draining: AbortSignal;
  },
): void {
  const known = new Set(["", ...options.services]);
  const status = async (): Promise<Status> =>
    (await options.isReady()) ? Status.SERVING : Status.NOT_SERVING;

  router.service(
    Health,
    {
      async check({ service }) {
        if (!known.has(service))
          throw new ConnectError(`unknown service ${service}`, Code.NotFound);
        return create(HealthCheckResponseSchema, { status: await status() });
      },
      async list() {
        const now = await status();
        return create(HealthListResponseSchema, {
          statuses: Object.fromEntries([...known].map((name) => [name, { status: now }])),
        });
      },
      async *watch({ service }, { signal }) {
        let last: Status | undefined;
        while (!signal.aborted) {
          const now = known.has(service) ? await status() : Status.SERVICE_UNKNOWN;
          if (now !== last) yield create(HealthCheckResponseSchema, { status: now });
          last = now;
          // The stream would keep its connection open.
          if (options.draining.aborted) return;
          await pause(WATCH_INTERVAL_MS, AbortSignal.any([signal, options.draining]));
        }
      },
    },
    OPEN_SERVICE_LIMITS,
  );
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => {});
