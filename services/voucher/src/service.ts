import path from "node:path";

import type { Transport } from "@connectrpc/connect";
import {
  type EventBus,
  OUTBOX_READER,
  outboxTable,
  startRelay,
  type SubscribeOptions,
} from "@scrip/events";
import { createHitRecorder, publishEntry, STORED_REQUEST_TABLE } from "@scrip/idempotency";
import { newId } from "@scrip/ids";
import { createDatabase, keepPartitioned, migrate, sortsByBytes } from "@scrip/postgres";
import { startProjectReplica } from "@scrip/projects";
import { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import {
  clientOf,
  createReadiness,
  DEFAULT_RETENTION,
  outboxRetention,
  type ReplicatingService,
  type Retention,
} from "@scrip/rpc";
import type { Metrics } from "@scrip/telemetry";

import { createRecentUsages } from "./batch/recent-usages.ts";
import { CALLERS } from "./callers.ts";
import type { Deps } from "./deps.ts";
import { onAutoRedemption, POINTS_TOPIC } from "./events/on-auto-redemption.ts";
import { CAMPAIGNS_TOPIC, onCampaign } from "./events/on-campaign.ts";
import { onCardRequested } from "./events/on-card-requested.ts";
import { CUSTOMERS_TOPIC, onCustomerDeleted } from "./events/on-customer-deleted.ts";
import { onReferral, ORDERS_TOPIC } from "./events/on-referral.ts";
import { REFERRALS_TOPIC } from "./events/referrals.ts";
import { createAssetCipher } from "./image/asset-cipher.ts";
import { startClaimExpiry } from "./jobs/delete-expired-claims.ts";
import { startFailureExpiry } from "./jobs/delete-expired-failures.ts";
import { startSessionExpiry } from "./jobs/delete-expired-sessions.ts";
import { startRewardDelivery } from "./jobs/deliver-rewards.ts";
import { startRewardPayment } from "./jobs/pay-referral-rewards.ts";
import { startPointsHoldRelease } from "./jobs/release-points-holds.ts";
import { startExplanationRemoval } from "./jobs/remove-old-explanations.ts";
import { createDefinitionCache } from "./loading/definition-cache.ts";
import { routes } from "./routes.ts";
import { partitionedTables } from "./store/partitions.ts";

export const SCHEMA = "voucher";
export const ROLE = "scrip_voucher";
export const MIGRATIONS = path.join(import.meta.dirname, "../migrations");

export type VoucherOptions = {
  readonly databaseUrl: string;
  /** PgBouncer in front of the database, for the statements of requests. */
  readonly poolerUrl?: string | undefined;
  /** A replica of the database, for lists and exports. */
  readonly replicaUrl?: string | undefined;
  readonly poolSize: number;
  readonly transports: { readonly loyalty: Transport };
  /** Encrypts the ids of QR and barcode images. Changing it invalidates all image links. */
  readonly assetSecret: string;
  /** The event bus; its owner closes it after this service. */
  readonly bus: EventBus;
  /** Default: `DEFAULT_RETENTION`. */
  readonly retention?: Retention;
  /** Default: nothing is measured. */
  readonly metrics?: Metrics;
  readonly onError: (error: Error) => void;
};

/** Time for a consumer to finish its events; the others are delivered again after the next start. */
const CONSUMERS_CLOSE_MS = 3_000;

/** The service without a transport: both compositions mount it. */
export async function createVoucherService(options: VoucherOptions): Promise<ReplicatingService> {
  const { databaseUrl: url, onError } = options;
  await migrate({ url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS, reader: OUTBOX_READER });
  await using parts = new AsyncDisposableStack();
  const db = createDatabase({ ...options, url, schema: SCHEMA, role: ROLE });
  parts.defer(() => db.close());
  const projects = parts.use(
    await startProjectReplica({ ...options, db, group: "voucher-projects" }),
  );
  const relay = startRelay({ db, bus: options.bus, onError });
  parts.defer(relay.close);
  const retention = options.retention ?? DEFAULT_RETENTION;
  const tables = [
    STORED_REQUEST_TABLE,
    ...partitionedTables(retention),
    outboxTable(outboxRetention(retention), relay),
  ];
  parts.use(await keepPartitioned({ url, schema: SCHEMA, tables, onError }));
  parts.use(startSessionExpiry(db, onError));
  parts.use(startClaimExpiry(db, onError));
  startRetention(parts, { ...options, db }, retention);
  const cards = clientOf(CardService, options.transports.loyalty);
  parts.use(startPointsHoldRelease({ db, cards, onError }));
  const wokenJobs: { readonly wake: () => void }[] = [relay];
  const deps: Deps = {
    db,
    codesSortByBytes: await sortsByBytes(db),
    newId,
    definitions: createDefinitionCache(),
    recentUsages: createRecentUsages(),
    assets: createAssetCipher(options.assetSecret),
    customers: clientOf(CustomerService, options.transports.loyalty),
    cards,
    findProject: projects.findProject,
    onError,
    onEvents: () => {
      for (const job of wokenJobs) job.wake();
    },
  };
  for (const consumer of consumers(deps)) {
    const subscription = await projects.bus.subscribe(consumer);
    parts.defer(() => subscription.close(CONSUMERS_CLOSE_MS));
  }
  wokenJobs.push(parts.use(startRewardPayment(deps)), parts.use(startRewardDelivery(deps)));
  const implementations = routes(deps);
  const running = parts.move();
  return {
    name: "voucher",
    callers: CALLERS,
    implementations,
    findProject: projects.findProject,
    recordHit: createHitRecorder(db, publishEntry, relay.wake),
    ready: createReadiness(db, onError),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function startRetention(
  parts: AsyncDisposableStack,
  { db, metrics, onError }: Pick<VoucherOptions, "metrics" | "onError"> & Pick<Deps, "db">,
  { failedRedemptionMs, explanationMs }: Retention,
): void {
  const job = { db, metrics, onError };
  parts.use(startFailureExpiry({ ...job, keepMs: failedRedemptionMs }));
  if (explanationMs !== undefined) {
    parts.use(startExplanationRemoval({ ...job, keepMs: explanationMs }));
  }
}

const consumers = (deps: Deps): readonly SubscribeOptions[] => [
  { group: "voucher-customers", topics: [CUSTOMERS_TOPIC], handler: onCustomerDeleted(deps.db) },
  {
    group: "voucher-referrals",
    topics: [REFERRALS_TOPIC, CUSTOMERS_TOPIC, ORDERS_TOPIC],
    handler: onReferral(deps),
  },
  { group: "voucher-card-requests", topics: [CUSTOMERS_TOPIC], handler: onCardRequested(deps) },
  { group: "voucher-campaigns", topics: [CAMPAIGNS_TOPIC], handler: onCampaign(deps.db) },
  { group: "voucher-auto-redemptions", topics: [POINTS_TOPIC], handler: onAutoRedemption(deps) },
];
