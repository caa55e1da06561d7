import path from "node:path";

import type { Transport } from "@connectrpc/connect";
import { type EventBus, startRelay } from "@scrip/events";
import { startKeyExpiry } from "@scrip/idempotency";
import { newId } from "@scrip/ids";
import { createDatabase, keepPartitioned, migrate } from "@scrip/postgres";
import { startProjectReplica } from "@scrip/projects";
import { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import {
  clientOf,
  createReadiness,
  DEFAULT_RETENTION,
  type ReplicatingService,
  type Retention,
} from "@scrip/rpc";

import type { Deps } from "./deps.ts";
import { onCardRequested } from "./events/on-card-requested.ts";
import { CUSTOMERS_TOPIC, onCustomerDeleted } from "./events/on-customer-deleted.ts";
import { onReferral, ORDERS_TOPIC } from "./events/on-referral.ts";
import { REFERRALS_TOPIC } from "./events/referrals.ts";
import { createAssetCipher } from "./image/asset-cipher.ts";
import { startSessionExpiry } from "./jobs/delete-expired-sessions.ts";
import { startRewardPayment } from "./jobs/pay-referral-rewards.ts";
import { startPointsHoldRelease } from "./jobs/release-points-holds.ts";
import { createDefinitionCache } from "./loading/definition-cache.ts";
import { routes } from "./routes.ts";
import { partitionedTables } from "./store/partitions.ts";

export const SCHEMA = "voucher";
export const ROLE = "scrip_voucher";
export const MIGRATIONS = path.join(import.meta.dirname, "../migrations");

export type VoucherOptions = {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly transports: { readonly loyalty: Transport };
  /** Encrypts the ids of QR and barcode images. Changing it invalidates all image links. */
  readonly assetSecret: string;
  /** The event bus; its owner closes it after this service. */
  readonly bus: EventBus;
  /** Maximum number of cached definitions, about 2 KiB each. Default: 20,000. */
  readonly cacheSize?: number;
  /** Default: 48 hours for stored responses. */
  readonly retention?: Retention;
  readonly onError: (error: Error) => void;
};

const DEFAULT_CACHE_SIZE = 20_000;

/** Time for a consumer to finish its events; the others are delivered again after the next start. */
const CONSUMERS_CLOSE_MS = 3_000;

/** The service without a transport: both compositions mount it. */
export async function createVoucherService(options: VoucherOptions): Promise<ReplicatingService> {
  const { databaseUrl: url, poolSize, onError } = options;
  await migrate({ url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
  await using parts = new AsyncDisposableStack();
  const db = createDatabase({ url, schema: SCHEMA, role: ROLE, poolSize, onError });
  parts.defer(() => db.close());
  const projects = parts.use(
    await startProjectReplica({ db, bus: options.bus, group: "voucher-projects" }),
  );
  const tables = partitionedTables(options.retention ?? DEFAULT_RETENTION);
  parts.use(await keepPartitioned({ url, schema: SCHEMA, tables, onError }));
  parts.use(startKeyExpiry(db, onError));
  parts.use(startSessionExpiry(db, onError));
  const relay = startRelay({ db, bus: options.bus, onError });
  parts.defer(relay.close);
  const cards = clientOf(CardService, options.transports.loyalty);
  parts.use(startPointsHoldRelease({ db, cards, onError }));
  const customers = await projects.bus.subscribe({
    group: "voucher-customers",
    topics: [CUSTOMERS_TOPIC],
    handler: onCustomerDeleted(db),
  });
  parts.defer(() => customers.close(CONSUMERS_CLOSE_MS));
  const deps: Deps = {
    db,
    newId,
    definitions: createDefinitionCache(options.cacheSize ?? DEFAULT_CACHE_SIZE),
    assets: createAssetCipher(options.assetSecret),
    customers: clientOf(CustomerService, options.transports.loyalty),
    cards,
    onError,
    onEvents: relay.wake,
  };
  const referrals = await projects.bus.subscribe({
    group: "voucher-referrals",
    topics: [REFERRALS_TOPIC, CUSTOMERS_TOPIC, ORDERS_TOPIC],
    handler: onReferral(deps),
  });
  parts.defer(() => referrals.close(CONSUMERS_CLOSE_MS));
  const cardRequests = await projects.bus.subscribe({
    group: "voucher-card-requests",
    topics: [CUSTOMERS_TOPIC],
    handler: onCardRequested({ ...deps, findProject: projects.findProject }),
  });
  parts.defer(() => cardRequests.close(CONSUMERS_CLOSE_MS));
  parts.use(startRewardPayment({ ...deps, findProject: projects.findProject }));
  const implementations = routes(deps);
  const running = parts.move();
  return {
    name: "voucher",
    implementations,
    findProject: projects.findProject,
    ready: createReadiness(db, onError),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
