import path from "node:path";

import { type EventBus, startRelay } from "@scrip/events";
import { startKeyExpiry } from "@scrip/idempotency";
import { newId } from "@scrip/ids";
import {
  createDatabase,
  createDefinitionVersions,
  type Database,
  type DefinitionVersions,
  holdProcessLock,
  migrate,
} from "@scrip/postgres";
import { startProjectReplica } from "@scrip/projects";
import { createCoalescer, createReadiness, type ReplicatingService } from "@scrip/rpc";

import { createClients } from "./clients.ts";
import { mayBeOneBadItem } from "./clients/batch-failure.ts";
import type { Transports } from "./clients/batching.ts";
import { CUSTOMERS_TOPIC, onCustomer } from "./events/on-customer.ts";
import { CAMPAIGNS_TOPIC, onDeletion, VOUCHERS_TOPIC } from "./events/on-deletion.ts";
import { onRedemption, REDEMPTIONS_TOPIC } from "./events/on-redemption.ts";
import { createCollectionsCache } from "./loading/collections.ts";
import { createStackingRulesCache } from "./loading/stacking-rules.ts";
import { createRuleCaches } from "./loading/validation-rules.ts";
import { createOrderQueue } from "./order/order-queue.ts";
import { routes } from "./routes.ts";
import { type CatalogueQuery, findInCatalogue } from "./store/catalogue-lookup.ts";
import { awaitOrder } from "./store/order-claims.ts";
import type { StoredOrder } from "./store/order-rows.ts";
import { saveOrdersWithFreeSourceIds } from "./store/order-source-ids.ts";

export const SCHEMA = "validation";
export const ROLE = "scrip_validation";
export const MIGRATIONS = path.join(import.meta.dirname, "../migrations");

export type ValidationOptions = {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly transports: Transports;
  /** Source of other services' events; closed by its owner after this service. */
  readonly bus: EventBus;
  readonly trackingSecret: string;
  readonly onError: (error: Error) => void;
  readonly onBatch: (name: string, size: number) => void;
};

/** Above this many waiting calls, callers are rejected instead of queued. */
const BATCH = { lanes: 2, maxBatch: 500, maxWaiting: 20_000, isBadItem: mayBeOneBadItem };

/** An order has up to hundreds of lines; larger batches would delay other requests. */
const MAX_ORDERS = 50;

/** Requests of one process that wait for the same order; further ones are rejected. */
const ORDER_QUEUE = { maxWaiting: 100, maxWaitMs: 6_000 };

/** Time for a consumer to finish its events; the rest is delivered again after the next start. */
const CONSUMERS_CLOSE_MS = 3_000;

/** Creates the service without a transport: both compositions mount it. */
export async function createValidationService(
  options: ValidationOptions,
): Promise<ReplicatingService> {
  const { databaseUrl: url, poolSize, onError, onBatch, trackingSecret } = options;
  await migrate({ url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
  await using parts = new AsyncDisposableStack();
  const db = createDatabase({ url, schema: SCHEMA, role: ROLE, poolSize, onError });
  parts.defer(() => db.close());
  const processLock = parts.use(await holdProcessLock({ url, name: `${SCHEMA} process` }));
  const projects = parts.use(
    await startProjectReplica({ db, bus: options.bus, group: "validation-projects" }),
  );
  parts.use(startKeyExpiry(db, onError));
  const definitions = createDefinitionVersions({ db });
  for (const { group, topic, handler } of consumersOf(db, definitions)) {
    const consumer = await projects.bus.subscribe({ group, topics: [topic], handler });
    parts.defer(() => consumer.close(CONSUMERS_CLOSE_MS));
  }
  const relay = startRelay({ db, bus: options.bus, onError });
  parts.defer(relay.close);
  const saveOrder = createCoalescer({
    ...BATCH,
    onBatch: (size) => onBatch("save_orders", size),
    send: async (orders: readonly StoredOrder[]) => {
      await saveOrdersWithFreeSourceIds(db, orders);
      relay.wake();
      return orders.map(() => undefined);
    },
  });
  const lookUp = createCoalescer({
    ...BATCH,
    maxBatch: MAX_ORDERS,
    onBatch: (size) => onBatch("find_in_catalogue", size),
    send: (input: readonly CatalogueQuery[]) => findInCatalogue(db, input),
  });
  const running = parts.move();
  return {
    name: "validation",
    implementations: routes({
      db,
      newId,
      clients: createClients(options.transports, onBatch),
      definitions,
      stackingRules: createStackingRulesCache(db, definitions),
      collections: createCollectionsCache(db, definitions),
      ruleCaches: createRuleCaches(db, definitions),
      findInCatalogue: lookUp,
      saveOrder,
      processId: processLock.id,
      orderQueue: createOrderQueue(ORDER_QUEUE),
      awaitOrder: (wait) => awaitOrder(db, wait),
      onEvents: relay.wake,
      onError,
      trackingSecret,
    }),
    findProject: projects.findProject,
    ready: createReadiness(db, onError),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** One consumer group per topic, so that a failing handler does not block the others. */
const consumersOf = (db: Database, definitions: DefinitionVersions) => [
  { group: "validation", topic: REDEMPTIONS_TOPIC, handler: onRedemption({ db, newId }) },
  { group: "validation-vouchers", topic: VOUCHERS_TOPIC, handler: onDeletion(db, definitions) },
  { group: "validation-campaigns", topic: CAMPAIGNS_TOPIC, handler: onDeletion(db, definitions) },
  { group: "validation-customers", topic: CUSTOMERS_TOPIC, handler: onCustomer(db) },
];
