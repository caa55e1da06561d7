import { createCampaignService } from "@scrip/campaign/service";
import { toErrorResponse } from "@scrip/errors";
import { createPgEventBus } from "@scrip/events";
import { newId, newRequestId } from "@scrip/ids";
import { createLoyaltyService } from "@scrip/loyalty/service";
import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import { CatalogueImportService } from "@scrip/proto/scrip/validation/v1/catalogue_imports_pb";
import { ProductCollectionService } from "@scrip/proto/scrip/validation/v1/collections_pb";
import { OrderService } from "@scrip/proto/scrip/validation/v1/orders_pb";
import { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import { QualificationService } from "@scrip/proto/scrip/validation/v1/qualifications_pb";
import { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import { StackingRulesService } from "@scrip/proto/scrip/validation/v1/stacking_rules_pb";
import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Call, clientOf, createDirectTransport, type Service } from "@scrip/rpc";
import { migratedDatabase } from "@scrip/testing";
import { createVoucherService } from "@scrip/voucher/service";

import { createValidationService } from "../src/service.ts";

const POOL_SIZE = 4;

export type Services = Awaited<ReturnType<typeof startServices>>;

/** The validation service with the services that it calls, in this process on a database of their own. */
export async function startServices() {
  await using parts = new AsyncDisposableStack();
  const database = parts.use(await migratedDatabase());
  const errors: Error[] = [];
  const onError = (error: Error): unknown => errors.push(error);
  const options = { databaseUrl: database.url, poolSize: POOL_SIZE, onError };
  const bus = await createPgEventBus({ url: database.url, poolSize: POOL_SIZE, onError });
  parts.defer(() => bus.close(1_000));
  const loyalty = parts.use(await createLoyaltyService({ ...options, bus }));
  const voucher = parts.use(
    await createVoucherService({
      ...options,
      bus,
      assetSecret: "asset-secret",
      transports: { loyalty: transportTo(loyalty) },
    }),
  );
  const campaign = parts.use(
    await createCampaignService({
      ...options,
      maxVouchers: 1_000,
      bus,
      transports: { voucher: transportTo(voucher) },
    }),
  );
  const callees = transportTo(loyalty, voucher, campaign);
  const validation = parts.use(
    await createValidationService({
      ...options,
      bus,
      trackingSecret: "tracking-secret",
      onBatch: () => {},
      transports: { voucher: callees, campaign: callees, loyalty: callees },
    }),
  );
  const own = transportTo(validation);
  const running = parts.move();
  return {
    /** Errors of background work. */
    errors,
    databaseUrl: database.url,
    validations: clientOf(ValidationService, own),
    qualifications: clientOf(QualificationService, own),
    orders: clientOf(OrderService, own),
    products: clientOf(ProductService, own),
    imports: clientOf(CatalogueImportService, own),
    collections: clientOf(ProductCollectionService, own),
    rules: clientOf(ValidationRuleService, own),
    stackingRules: clientOf(StackingRulesService, own),
    earningRules: clientOf(EarningRuleService, callees),
    vouchers: clientOf(VoucherService, callees),
    campaigns: clientOf(CampaignService, callees),
    promotions: clientOf(PromotionService, callees),
    categories: clientOf(CategoryService, callees),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const transportTo = (...services: readonly Service[]) =>
  createDirectTransport(services.flatMap(({ implementations }) => implementations));

/** A project of its own; each call is a request of its own. */
export function newProject() {
  const id = newId("proj");
  return (overrides: Partial<Call> = {}): Call => ({
    project: { id, timeZone: "UTC", caseSensitiveCodes: true },
    requestId: newRequestId(),
    deadline: Date.now() + 60_000,
    now: Date.now(),
    caller: { side: "server", id: "app_test" },
    ...overrides,
  });
}

/** An idempotency key and the hash of its request. */
export const idempotency = (key: string, request = key): NonNullable<Call["idempotency"]> => ({
  key,
  requestHash: new TextEncoder().encode(request),
});

/** The error key that a call is rejected with, also by another service. */
export const rejectionKey = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "not rejected",
    (error: unknown) => toErrorResponse(error, "").error.key,
  );
