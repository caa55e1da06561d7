import path from "node:path";

import { type EventBus, OUTBOX_READER, outboxTable, type Relay, startRelay } from "@scrip/events";
import { createHitRecorder, publishEntry, STORED_REQUEST_TABLE } from "@scrip/idempotency";
import { newId } from "@scrip/ids";
import {
  createDatabase,
  createDefinitionVersions,
  type Database,
  type DefinitionVersions,
  holdProcessLock,
  keepPartitioned,
  migrate,
} from "@scrip/postgres";
import { startProjectReplica } from "@scrip/projects";
import {
  createCoalescer,
  createReadiness,
  DEFAULT_RETENTION,
  outboxRetention,
  type ReplicatingService,
  type Retention,
} from "@scrip/rpc";
import type { Metrics } from "@scrip/telemetry";

import { CALLERS } from "./callers.ts";
import { createClients } from "./clients.ts";
import { mayBeOneBadItem } from "./clients/batch-failure.ts";
import type { Transports } from "./clients/batching.ts";
import { CUSTOMERS_TOPIC, onCustomer } from "./events/on-customer.ts";
import { CAMPAIGNS_TOPIC, onDeletion, VOUCHERS_TOPIC } from "./events/on-deletion.ts";
import { onRedemption, REDEMPTIONS_TOPIC } from "./events/on-redemption.ts";
import { createCollectionCaches } from "./loading/collections.ts";
import { createStackingRulesCache } from "./loading/stacking-rules.ts";
import { createRuleCaches } from "./loading/validation-rules.ts";
import { createOrderQueue } from "./order/order-queue.ts";
import { createRedemptionCounter } from "./redemption/count-redemptions.ts";
import { routes } from "./routes.ts";
import { type CatalogueQuery, findInCatalogue } from "./store/catalogue-lookup.ts";
import { awaitOrder } from "./store/order-claims.ts";
import type { StoredOrder } from "./store/order-rows.ts";
import { saveOrdersWithFreeSourceIds } from "./store/order-source-ids.ts";
import { startValidationCounter } from "./validation/validation-counter.ts";

export const SCHEMA = "validation";
export const ROLE = "scrip_validation";
export const MIGRATIONS = path.join(import.meta.dirname, "../migrations");

export type ValidationOptions = {
  readonly databaseUrl: string;
  /** PgBouncer in front of the database, for the statements of requests. */
  readonly poolerUrl?: string | undefined;
  /** A replica of the database, for lists and exports. */
  readonly replicaUrl?: string | undefined;
  readonly poolSize: number;
  readonly transports: Transports;
  /** Source of other services' events; closed by its owner after this service. */
  readonly bus: EventBus;
  readonly trackingSecret: string;
  /** Default: 6 hours for events. */
  readonly retention?: Retention;
  /** Default: nothing is measured. */
  readonly metrics?: Metrics;
  readonly onError: (error: Error) => void;
  readonly onBatch: (name: string, size: number) => void;
};

/** Above this many waiting calls, callers are rejected instead of queued. */
const BATCH = { lanes: 2, maxBatch: 500, maxWaiting: 20_000, isBadItem: mayBeOneBadItem };

/** An order has up to hundreds of lines; larger batches would delay other requests. */
const MAX_ORDERS = 50;
const ORDER_BATCH = { ...BATCH, maxBatch: MAX_ORDERS };

/** Requests of one process that wait for the same order; further ones are rejected. */
const ORDER_QUEUE = { maxWaiting: 100, maxWaitMs: 6_000 };

/** Time for a consumer to finish its events; the rest is delivered again after the next start. */
const CONSUMERS_CLOSE_MS = 3_000;

/** Publishes what the service writes, and drops what has expired. */
async function startOutbox(
  parts: AsyncDisposableStack,
  db: Database,
  { databaseUrl: url, bus, retention = DEFAULT_RETENTION, onError }: ValidationOptions,
): Promise<Relay> {
  const relay = startRelay({ db, bus, onError });
  parts.defer(relay.close);
  const tables = [STORED_REQUEST_TABLE, outboxTable(outboxRetention(retention), relay)];
  parts.use(await keepPartitioned({ url, schema: SCHEMA, tables, onError }));
  return relay;
}

/** Creates the service without a transport: both compositions mount it. */
export async function createValidationService(
  options: ValidationOptions,
): Promise<ReplicatingService> {
  const { databaseUrl: url, onError, onBatch, trackingSecret } = options;
  await migrate({ url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS, reader: OUTBOX_READER });
  await using parts = new AsyncDisposableStack();
  const db = createDatabase({ ...options, url, schema: SCHEMA, role: ROLE });
  parts.defer(() => db.close());
  const processLock = parts.use(await holdProcessLock({ url, name: `${SCHEMA} process` }));
  const projects = parts.use(
    await startProjectReplica({ ...options, db, group: "validation-projects" }),
  );
  const definitions = createDefinitionVersions({ db });
  for (const { group, topic, handler } of consumersOf(db, definitions)) {
    const consumer = await projects.bus.subscribe({ group, topics: [topic], handler });
    parts.defer(() => consumer.close(CONSUMERS_CLOSE_MS));
  }
  const relay = await startOutbox(parts, db, options);
  const counter = parts.use(startValidationCounter({ db, onEvents: relay.wake, onError }));
  const saveOrder = createCoalescer({
    ...BATCH,
    onBatch: (size) => onBatch("save_orders", size),
    send: async (orders: readonly StoredOrder[]) => {
      await saveOrdersWithFreeSourceIds(db, orders);
      relay.wake();
      return orders.map(() => undefined);
    },
  });
  const running = parts.move();
  return {
    name: "validation",
    callers: CALLERS,
    implementations: routes({
      db,
      newId,
      clients: createClients(options.transports, onBatch),
      definitions,
      stackingRules: createStackingRulesCache(db, definitions),
      ...createCollectionCaches(db, definitions),
      ruleCaches: createRuleCaches(db, definitions),
      findInCatalogue: createCatalogueLookup(db, onBatch),
      saveOrder,
      processId: processLock.id,
      orderQueue: createOrderQueue(ORDER_QUEUE),
      awaitOrder: (wait) => awaitOrder(db, wait),
      countValidations: counter.count,
      countRedemption: createRedemptionCounter(options.metrics),
      onEvents: relay.wake,
      onError,
      trackingSecret,
    }),
    findProject: projects.findProject,
    recordHit: createHitRecorder(db, publishEntry, relay.wake),
    definitions,
    ready: createReadiness(db, onError),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const createCatalogueLookup = (db: Database, onBatch: ValidationOptions["onBatch"]) =>
  createCoalescer({
    ...ORDER_BATCH,
    onBatch: (size) => onBatch("find_in_catalogue", size),
    send: (input: readonly CatalogueQuery[]) => findInCatalogue(db, input),
  });

/** One consumer group per topic, so that a failing handler does not block the others. */
const consumersOf = (db: Database, definitions: DefinitionVersions) => [
  { group: "validation", topic: REDEMPTIONS_TOPIC, handler: onRedemption({ db, newId }) },
  { group: "validation-vouchers", topic: VOUCHERS_TOPIC, handler: onDeletion(db, definitions) },
  { group: "validation-campaigns", topic: CAMPAIGNS_TOPIC, handler: onDeletion(db, definitions) },
  { group: "validation-customers", topic: CUSTOMERS_TOPIC, handler: onCustomer(db) },
];
