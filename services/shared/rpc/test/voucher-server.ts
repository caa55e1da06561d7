import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { createMetrics } from "@scrip/telemetry";

import { createAdmission } from "../src/admission/admission.ts";
import { DEFAULT_ADMISSION } from "../src/admission/settings.ts";
import { createTokenSource, type ServiceKeys } from "../src/auth/service-token.ts";
import { type RpcServer, serve, type ServeOptions } from "../src/server/serve.ts";
import type { Handlers, ReplicatingService } from "../src/server/service.ts";

export type VoucherServerOptions = Partial<Omit<ServeOptions, "services">> & {
  readonly keys: ServiceKeys;
  /** Default: none. */
  readonly handlers?: Partial<Handlers<typeof VoucherService>>;
  /** Default: it is ready. */
  readonly ready?: ReplicatingService["ready"];
};

/** Serves some RPCs of VoucherService on a free port. */
export const serveVouchers = ({
  handlers = {},
  ready = async () => undefined,
  ...options
}: VoucherServerOptions): Promise<RpcServer> =>
  serve({
    host: "127.0.0.1",
    port: 0,
    admission: createAdmission(DEFAULT_ADMISSION, createMetrics({ withProcess: false })),
    codeGuessing: { blockedFor: () => 0, count: () => {}, alarms: () => 0 },
    onCall: () => {},
    ...options,
    services: [
      {
        name: "voucher",
        implementations: [{ service: VoucherService, handlers }],
        findProject: () => undefined,
        callers: {},
        ready,
        [Symbol.asyncDispose]: async () => {},
      },
    ],
  });

/** Service tokens as those of the gateway. */
export const gatewayTokens = (keys: ServiceKeys): ReturnType<typeof createTokenSource> =>
  createTokenSource(keys, { name: "gateway", internal: true, scopes: [], projects: ["*"] });
