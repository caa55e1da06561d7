import path from "node:path";

import { type EventBus, inboxTable, OUTBOX_READER, outboxTable, startRelay } from "@scrip/events";
import { STORED_REQUEST_TABLE } from "@scrip/idempotency";
import { newId } from "@scrip/ids";
import { createDatabase, type Database, keepPartitioned, migrate } from "@scrip/postgres";
import { startProjectReplica } from "@scrip/projects";
import {
  createReadiness,
  DEFAULT_RETENTION,
  outboxRetention,
  type ReplicatingService,
  type Retention,
} from "@scrip/rpc";
import type { Metrics } from "@scrip/telemetry";

import { CALLERS } from "./callers.ts";
import { createClients, type Transports } from "./clients.ts";
import { onCatalogue, PRODUCTS_TOPIC } from "./events/on-catalogue.ts";
import { onRedemption, REDEMPTIONS_TOPIC } from "./events/on-redemption.ts";
import { onValidations, VALIDATIONS_TOPIC } from "./events/on-validations.ts";
import { onVoucher, VOUCHERS_TOPIC } from "./events/on-voucher.ts";
import { createDefinitionCaches } from "./loading/definition-cache.ts";
import { routes } from "./routes.ts";

export const SCHEMA = "campaign";
export const ROLE = "scrip_campaign";
export const MIGRATIONS = path.join(import.meta.dirname, "../migrations");

export type CampaignOptions = {
  readonly databaseUrl: string;
  /** PgBouncer in front of the database, for the statements of requests. */
  readonly poolerUrl?: string | undefined;
  /** A replica of the database, for lists and exports. */
  readonly replicaUrl?: string | undefined;
  readonly poolSize: number;
  readonly transports: Transports;
  /** Source of the events of other services; its owner closes it after this service. */
  readonly bus: EventBus;
  /** Default: 15 days for the ids of handled events, 6 hours for events. */
  readonly retention?: Retention;
  /** Number of vouchers that a campaign may have. */
  readonly maxVouchers: number;
  /** Default: nothing is measured. */
  readonly metrics?: Metrics;
  readonly onError: (error: Error) => void;
};

/** Time for a consumer to finish its batch; unfinished events are delivered again at the next start. */
const CONSUMERS_CLOSE_MS = 3_000;

/** Creates the service without a server; both compositions mount it. */
export async function createCampaignService(options: CampaignOptions): Promise<ReplicatingService> {
  const { databaseUrl: url, onError } = options;
  await migrate({ url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS, reader: OUTBOX_READER });
  await using parts = new AsyncDisposableStack();
  const db = createDatabase({ ...options, url, schema: SCHEMA, role: ROLE });
  parts.defer(() => db.close());
  const projects = parts.use(
    await startProjectReplica({ ...options, db, group: "campaign-projects" }),
  );
  const relay = startRelay({ db, bus: options.bus, onError });
  parts.defer(relay.close);
  const retention = options.retention ?? DEFAULT_RETENTION;
  const tables = [
    STORED_REQUEST_TABLE,
    inboxTable(retention.inboxMs),
    outboxTable(outboxRetention(retention), relay),
  ];
  parts.use(await keepPartitioned({ url, schema: SCHEMA, tables, onError }));
  for (const { group, topic, handler } of consumersOf(db)) {
    const consumer = await projects.bus.subscribe({ group, topics: [topic], handler });
    parts.defer(() => consumer.close(CONSUMERS_CLOSE_MS));
  }
  const definitions = createDefinitionCaches(db);
  const running = parts.move();
  return {
    name: "campaign",
    callers: CALLERS,
    implementations: routes({
      db,
      newId,
      maxVouchers: options.maxVouchers,
      definitions,
      onEvents: relay.wake,
      ...createClients(options.transports),
    }),
    findProject: projects.findProject,
    definitions,
    ready: createReadiness(db, onError),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const consumersOf = (db: Database) => [
  { group: "campaign", topic: VOUCHERS_TOPIC, handler: onVoucher(db, newId) },
  { group: "campaign-redemptions", topic: REDEMPTIONS_TOPIC, handler: onRedemption(db) },
  { group: "campaign-catalogue", topic: PRODUCTS_TOPIC, handler: onCatalogue(db, newId) },
  { group: "campaign-validations", topic: VALIDATIONS_TOPIC, handler: onValidations(db) },
];
