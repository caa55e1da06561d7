import path from "node:path";

import { type EventBus, inboxTable } from "@scrip/events";
import { AUDIT_TOPIC, createHitRecorder, STORED_REQUEST_TABLE } from "@scrip/idempotency";
import { newId } from "@scrip/ids";
import { createDatabase, keepPartitioned, migrate } from "@scrip/postgres";
import { startProjectReplica } from "@scrip/projects";
import {
  createReadiness,
  DEFAULT_RETENTION,
  type ReplicatingService,
  type Retention,
} from "@scrip/rpc";
import type { Metrics } from "@scrip/telemetry";

import { appendInTransaction } from "./audit-log/append-entries.ts";
import { CALLERS } from "./callers.ts";
import { createClients, type Transports } from "./clients.ts";
import type { Deps } from "./deps.ts";
import { CAMPAIGNS_TOPIC, onCampaign } from "./events/on-campaign.ts";
import { onChange } from "./events/on-change.ts";
import { CUSTOMERS_TOPIC, onCustomerDeleted } from "./events/on-customer-deleted.ts";
import type { FileStore } from "./files/file-store.ts";
import { createImportKinds } from "./imports/import-jobs.ts";
import { startCleanup } from "./jobs/clean-up.ts";
import { createJobDefinitions } from "./jobs/definitions.ts";
import { startFileExpiry } from "./jobs/expire-files.ts";
import { startJobWorker } from "./jobs/job-worker.ts";
import { startDeliveryTrim, startWebhookDeletion } from "./jobs/trim-deliveries.ts";
import { createExportMetrics, type ExportMetrics } from "./monitoring/export-metrics.ts";
import { routes } from "./routes.ts";
import { auditDayTable } from "./store/audit-days.ts";
import { auditTable } from "./store/audit-entries.ts";
import { migrateQueueSchema } from "./store/queue-schema.ts";
import { createBulkPause } from "./webhooks/bulk-pause.ts";
import { type DeliveryWorker, startDeliveryWorker } from "./webhooks/delivery-worker.ts";
import { createWebhookSender } from "./webhooks/send-request.ts";
import {
  startWebhookSubscription,
  type WebhookSubscriptionOptions,
} from "./webhooks/subscription.ts";
import { DEFAULT_WEBHOOK_SETTINGS, type WebhookSettings } from "./webhooks/webhook-settings.ts";

export type { FileStore } from "./files/file-store.ts";
export { openFileStore, readFileSettings } from "./files/settings.ts";

export const SCHEMA = "export";
export const ROLE = "scrip_export";
export const MIGRATIONS = path.join(import.meta.dirname, "../migrations");

export type ExportOptions = {
  readonly databaseUrl: string;
  /** PgBouncer in front of the database, for the statements of requests. */
  readonly poolerUrl?: string | undefined;
  /** A replica of the database, for lists and exports. */
  readonly replicaUrl?: string | undefined;
  readonly poolSize: number;
  readonly transports: Transports;
  /** Where the files of exports are. */
  readonly files: FileStore;
  /** The address of the API, for links to files. */
  readonly baseUrl: string;
  /** Source of the events of other services; its owner closes it after this service. */
  readonly bus: EventBus;
  /** Default: `DEFAULT_RETENTION`. */
  readonly retention?: Retention;
  readonly metrics: Metrics;
  /** Default: https and public addresses only. */
  readonly webhooks?: WebhookSettings;
  readonly onError: (error: Error) => void;
};

/** A receiver that takes longer has failed. */
const WEBHOOK_TIMEOUT_MS = 10_000;

/** Time for a consumer to finish its batch; unfinished events are delivered again at the next start. */
const CONSUMERS_CLOSE_MS = 3_000;

/** Creates the service without a server; both compositions mount it. */
export async function createExportService(options: ExportOptions): Promise<ReplicatingService> {
  const { databaseUrl: url, onError } = options;
  const access = { url, schema: SCHEMA, role: ROLE, onError };
  await migrate({ url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
  await migrateQueueSchema({ url, role: ROLE });
  await using parts = new AsyncDisposableStack();
  const db = createDatabase({ ...options, ...access });
  parts.defer(() => db.close());
  const projects = parts.use(
    await startProjectReplica({ ...options, db, group: "export-projects" }),
  );
  const retention = options.retention ?? DEFAULT_RETENTION;
  const tables = partitionedTables(retention);
  parts.use(await keepPartitioned({ url, schema: SCHEMA, tables, onError }));
  const clients = createClients(options.transports);
  const webhooks = options.webhooks ?? DEFAULT_WEBHOOK_SETTINGS;
  const metrics = createExportMetrics(options.metrics, db);
  const { findProject } = projects;
  const worker = startWebhooks(parts, {
    db,
    bus: options.bus,
    clients,
    findProject,
    settings: webhooks,
    metrics,
    keepMs: retention.deliveryMs,
    onError,
  });
  const { files, baseUrl } = options;
  const fileRetentionMs = retention.exportFileMs;
  const own = { db, newId, files, fileRetentionMs, baseUrl, webhooks, wakeWebhooks: worker.wake };
  const deps = { ...own, ...clients, importKinds: createImportKinds(clients) };
  parts.use(startFileExpiry(deps, onError));
  parts.use(startCleanup(db, onError));
  parts.use(
    await startJobWorker({
      ...access,
      db,
      definitions: createJobDefinitions({ ...deps, bulkPause: createBulkPause(options.bus) }),
      findProject,
      onEnd: metrics.countJob,
    }),
  );
  await subscribe(parts, deps, { projects: projects.bus, all: options.bus });
  const running = parts.move();
  return {
    name: "export",
    callers: CALLERS,
    implementations: routes(deps),
    findProject,
    recordHit: createHitRecorder(
      db,
      (_, entry) => appendInTransaction(db, [entry]),
      () => {},
    ),
    ready: createReadiness(db, onError),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const partitionedTables = ({ inboxMs, auditMs }: Retention) => [
  STORED_REQUEST_TABLE,
  inboxTable(inboxMs),
  auditDayTable(auditMs),
  auditTable(auditMs),
];

async function subscribe(
  parts: AsyncDisposableStack,
  { db, files }: Pick<Deps, "db" | "files">,
  bus: { readonly projects: EventBus; readonly all: EventBus },
): Promise<void> {
  const campaigns = await bus.projects.subscribe({
    group: "export-campaigns",
    topics: [CAMPAIGNS_TOPIC],
    handler: onCampaign(db),
  });
  parts.defer(() => campaigns.close(CONSUMERS_CLOSE_MS));
  const customers = await bus.projects.subscribe({
    group: "export-customers",
    topics: [CUSTOMERS_TOPIC],
    handler: onCustomerDeleted({ db, files }),
  });
  parts.defer(() => customers.close(CONSUMERS_CLOSE_MS));
  // Also of deleted projects: their last entry says who deleted them.
  const changes = await bus.all.subscribe({
    group: "export-audit-log",
    topics: [AUDIT_TOPIC],
    handler: onChange(db),
  });
  parts.defer(() => changes.close(CONSUMERS_CLOSE_MS));
}

type WebhookOptions = Omit<WebhookSubscriptionOptions, "onStored"> & {
  readonly settings: WebhookSettings;
  readonly metrics: ExportMetrics;
  /** How long deliveries are retained. */
  readonly keepMs: number;
};

/** Stores deliveries of events, sends them, and deletes old ones. */
function startWebhooks(
  parts: AsyncDisposableStack,
  { settings, metrics, keepMs, ...subscription }: WebhookOptions,
): DeliveryWorker {
  const { db, onError } = subscription;
  const sender = parts.use(createWebhookSender({ ...settings, timeoutMs: WEBHOOK_TIMEOUT_MS }));
  const worker = parts.use(
    startDeliveryWorker({ db, sender, settings, onAttempt: metrics.countDelivery, onError }),
  );
  parts.use(startWebhookSubscription({ ...subscription, onStored: worker.wake }));
  parts.use(startDeliveryTrim({ db, keepMs, onError }));
  parts.use(startWebhookDeletion({ db, onError }));
  return worker;
}
