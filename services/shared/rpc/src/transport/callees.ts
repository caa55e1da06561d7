import type { Transport } from "@connectrpc/connect";
import type { Logger, Metrics } from "@scrip/telemetry";

import { createTokenSource, type ServiceKeys } from "../auth/service-token.ts";
import type { Tls } from "../auth/tls.ts";
import { createBalancedTransport } from "./balanced-transport.ts";
import { createServiceTransport } from "./grpc-transport.ts";

export type CallerOptions = {
  /** The name of this process's service. */
  readonly caller: string;
  readonly keys: ServiceKeys;
  readonly tls: Tls | undefined;
  readonly logger: Pick<Logger, "info" | "warn">;
  readonly metrics: Metrics;
};

export type ConnectTo = (callee: string, urls: readonly string[]) => Transport & Disposable;

/** How a process of Scrip calls the other services: each by the addresses of its replicas. */
export function createCallees({ caller, keys, tls, logger, metrics }: CallerOptions): ConnectTo {
  const token = createTokenSource(keys, {
    name: caller,
    internal: true,
    scopes: [],
    projects: ["*"],
  });
  const retries = metrics.counter({
    name: "rpc_retries_total",
    help: "Calls to other services that were repeated on another replica.",
    labels: ["service"],
  });
  return (callee, urls) =>
    createBalancedTransport({
      service: callee,
      urls,
      connect: ({ url, host }) =>
        createServiceTransport({
          baseUrl: url,
          audience: callee,
          token,
          tls: tls?.clientOf(host),
        }),
      onChange(url, isServing) {
        const fields = { service: callee, url };
        if (isServing) logger.info(fields, "a replica takes calls");
        else logger.warn(fields, "a replica takes no calls");
      },
      onRetry: () => retries.inc({ service: callee }),
    });
}
