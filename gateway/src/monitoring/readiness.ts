import { type ReadinessCheck, sharedCheck, type UnreadyReason } from "@scrip/rpc";

/** A dependency that prevents this process from serving requests (docs/operations.md#health). */
export type NotReady = { readonly dependency: string; readonly reason: UnreadyReason };

export type ReadinessOptions = {
  readonly service: { readonly ready: ReadinessCheck };
  readonly dependencies?: Readonly<Record<string, ReadinessCheck>>;
};

/** Longer than the checks wait, so that the response names the dependencies that did not respond. */
const TIMEOUT_MS = 900;

/** Checks the gateway's database and all services, at most once per second. */
export function readinessOf(
  { service, dependencies = {} }: ReadinessOptions,
  isDraining: () => boolean,
): () => Promise<readonly NotReady[]> {
  const checks = Object.entries({ gateway: service.ready, ...dependencies });
  const all = sharedCheck<readonly NotReady[]>(
    async () => {
      const reasons = await Promise.all(checks.map(([, check]) => check()));
      return checks.flatMap(([dependency], index) => {
        const reason = reasons[index];
        return reason === undefined ? [] : [{ dependency, reason }];
      });
    },
    { timeoutMs: TIMEOUT_MS, onTimeout: [{ dependency: "gateway", reason: "timeout" }] },
  );
  return async () => (isDraining() ? [{ dependency: "gateway", reason: "shutting_down" }] : all());
}
