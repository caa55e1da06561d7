import { type ReadinessCheck, sharedCheck, type UnreadyReason } from "@scrip/rpc";

/** A dependency that does not serve, and why (docs/operations.md#health). */
export type NotReady = { readonly dependency: string; readonly reason: UnreadyReason };

export type ReadinessOptions = {
  readonly service: { readonly ready: ReadinessCheck };
  readonly dependencies?: Readonly<Record<string, ReadinessCheck>>;
};

/** Longer than the checks wait, so that the response names the dependencies that did not respond. */
const TIMEOUT_MS = 900;

/**
 * `degraded`: some services are away, and requests that need them get 503. The process is ready, because others would
 * lack the same services, and the load balancer would have no process left for the requests that succeed.
 */
export type Readiness = {
  readonly status: "ready" | "degraded" | "not ready";
  readonly failures: readonly NotReady[];
};

/** Checks the gateway's database and all services, at most once per second. */
export function readinessOf(
  { service, dependencies = {} }: ReadinessOptions,
  isDraining: () => boolean,
): () => Promise<Readiness> {
  const checks = Object.entries({ [OWN]: service.ready, ...dependencies });
  const all = sharedCheck<readonly NotReady[]>(
    async () => {
      const reasons = await Promise.all(checks.map(([, check]) => check()));
      return checks.flatMap(([dependency], index) => {
        const reason = reasons[index];
        return reason === undefined ? [] : [{ dependency, reason }];
      });
    },
    { timeoutMs: TIMEOUT_MS, onTimeout: [{ dependency: OWN, reason: "timeout" }] },
  );
  return async () => {
    const failures = isDraining()
      ? [{ dependency: OWN, reason: "shutting_down" } as const]
      : await all();
    return { status: statusOf(failures, checks.length - 1), failures };
  };
}

const OWN = "gateway";

/** A gateway that reaches no service may be isolated; other replicas may not be. */
function statusOf(failures: readonly NotReady[], services: number): Readiness["status"] {
  if (failures.length === 0) return "ready";
  const isCutOff = failures.length === services;
  return isCutOff || failures.some(({ dependency }) => dependency === OWN)
    ? "not ready"
    : "degraded";
}
