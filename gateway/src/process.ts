import type { Transport } from "@connectrpc/connect";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { OrderService } from "@scrip/proto/scrip/validation/v1/orders_pb";
import { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import { StackingRulesService } from "@scrip/proto/scrip/validation/v1/stacking_rules_pb";
import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { createServiceTransport, createTokenSource } from "@scrip/rpc";
import { createLogger, createMetrics } from "@scrip/telemetry";

import type { ProcessConfig } from "./process-config.ts";
import { type Gateway, startGateway } from "./server.ts";
import { createGatewayService } from "./service.ts";

/** The gateway as a process of its own, which reaches the services over gRPC. */
export async function startProcess(config: ProcessConfig): Promise<Gateway> {
  const logger = createLogger({ service: "gateway", level: config.logLevel });
  await using parts = new AsyncDisposableStack();
  const service = parts.use(
    await createGatewayService({
      databaseUrl: config.databaseUrl,
      poolSize: config.poolSize,
      tokenSeconds: config.gateway.tokenSeconds,
      bootstrap: config.gateway.bootstrap,
      logger,
    }),
  );
  const gateway = parts.use(
    await startGateway({
      host: config.host,
      port: config.port,
      config: config.gateway.door,
      service,
      transports: transportsOf(config),
      logger,
      metrics: createMetrics(),
    }),
  );
  const running = parts.move();
  return {
    url: gateway.url,
    port: gateway.port,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function transportsOf({ urls, serviceKeys }: ProcessConfig): ReadonlyMap<string, Transport> {
  const token = createTokenSource(serviceKeys, {
    name: "gateway",
    internal: true,
    scopes: [],
    projects: ["*"],
  });
  const to = (audience: keyof typeof urls): Transport =>
    createServiceTransport({ baseUrl: urls[audience], audience, token });
  const voucher = to("voucher");
  const validation = to("validation");
  return new Map([
    [VoucherService.typeName, voucher],
    [RedemptionService.typeName, voucher],
    [CategoryService.typeName, to("campaign")],
    [CustomerService.typeName, to("loyalty")],
    [ValidationService.typeName, validation],
    [OrderService.typeName, validation],
    [ProductService.typeName, validation],
    [StackingRulesService.typeName, validation],
    [ValidationRuleService.typeName, validation],
  ]);
}
