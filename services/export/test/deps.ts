import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import type { DescService } from "@bufbuild/protobuf";
import { createCampaignService } from "@scrip/campaign/service";
import { createPgEventBus } from "@scrip/events";
import { newId } from "@scrip/ids";
import { createLoyaltyService } from "@scrip/loyalty/service";
import { AsyncActionService } from "@scrip/proto/scrip/export/v1/async_actions_pb";
import { AuditLogService } from "@scrip/proto/scrip/export/v1/audit_log_pb";
import { WebhookService } from "@scrip/proto/scrip/export/v1/webhooks_pb";
import {
  clientOf,
  createDirectTransport,
  DEFAULT_RETENTION,
  type FindProject,
  type Retention,
  type Service,
} from "@scrip/rpc";
import { createMetrics } from "@scrip/telemetry";
import { migratedDatabase, testDatabase } from "@scrip/testing";
import { createValidationService } from "@scrip/validation/service";
import { createVoucherService } from "@scrip/voucher/service";

import { createClients } from "../src/clients.ts";
import { createLocalFiles } from "../src/files/local-files.ts";
import { createImportKinds } from "../src/imports/import-jobs.ts";
import type { AnyJobDefinition } from "../src/jobs/job-definition.ts";
import { startJobWorker } from "../src/jobs/job-worker.ts";
import { routes } from "../src/routes.ts";
import { createExportService, MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { migrateQueueSchema } from "../src/store/queue-schema.ts";
import { DEFAULT_WEBHOOK_SETTINGS } from "../src/webhooks/webhook-settings.ts";

const WEBHOOKS = { webhooks: DEFAULT_WEBHOOK_SETTINGS, wakeWebhooks: () => {} };

export type Exports = Awaited<ReturnType<typeof startExports>>;

/** Every id is that of an existing project in real time. */
export const anyProject: FindProject = ({ projectId }) => ({
  project: { id: projectId, timeZone: "UTC", caseSensitiveCodes: true },
  sandboxNow: null,
  deleted: projectId.endsWith("deleted"),
});

/** The service on a database of its own, without workers. */
export async function startExports() {
  await using parts = new AsyncDisposableStack();
  const db = parts.use(await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS }));
  await migrateQueueSchema({ url: db.url, role: ROLE });
  const none = createDirectTransport([]);
  const clients = createClients({ validation: none, campaign: none, voucher: none, loyalty: none });
  const files = createLocalFiles(await mkdtemp(path.join(tmpdir(), "scrip-exports-")));
  const importKinds = createImportKinds(clients);
  const deps = {
    db,
    newId,
    files,
    fileRetentionMs: DEFAULT_RETENTION.exportFileMs,
    baseUrl: "",
    importKinds,
    ...clients,
    ...WEBHOOKS,
  };
  const transport = createDirectTransport(routes(deps));
  const errors: Error[] = [];
  const running = parts.move();
  return {
    db,
    asyncActions: clientOf(AsyncActionService, transport),
    auditLog: clientOf(AuditLogService, transport),
    webhooks: clientOf(WebhookService, transport),
    /** What workers reported. */
    errors,
    /** Starts a worker that carries out these jobs. */
    startWorker: (definitions: readonly AnyJobDefinition[], findProject = anyProject) =>
      startJobWorker({
        url: db.url,
        schema: SCHEMA,
        role: ROLE,
        db,
        definitions,
        findProject,
        onError: (error) => errors.push(error),
      }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The service with all services that it calls, in one process on one database. */
export async function startPlatform(retention: Retention = DEFAULT_RETENTION) {
  await using parts = new AsyncDisposableStack();
  const { url } = parts.use(await migratedDatabase());
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const bus = await createPgEventBus({ url, onError });
  parts.defer(() => bus.close(1_000));
  const own = { databaseUrl: url, poolSize: 5, bus, retention, onError };
  const direct = (...services: readonly Service[]) =>
    createDirectTransport(services.flatMap(({ implementations }) => implementations));
  const loyalty = parts.use(await createLoyaltyService(own));
  const voucher = parts.use(
    await createVoucherService({
      ...own,
      assetSecret: "test",
      transports: { loyalty: direct(loyalty) },
    }),
  );
  const campaign = parts.use(
    await createCampaignService({
      maxVouchers: 1_000,
      ...own,
      transports: { voucher: direct(voucher) },
    }),
  );
  const below = direct(loyalty, voucher, campaign);
  const validation = parts.use(
    await createValidationService({
      ...own,
      trackingSecret: "test",
      onBatch: () => {},
      transports: { voucher: below, campaign: below, loyalty: below },
    }),
  );
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-exports-"));
  parts.defer(() => rm(folder, { recursive: true }));
  const all = direct(loyalty, voucher, campaign, validation);
  const service = parts.use(
    await createExportService({
      ...own,
      metrics: createMetrics({ withProcess: false }),
      transports: { validation: all, campaign: all, voucher: all, loyalty: all },
      files: createLocalFiles(folder),
      baseUrl: "https://scrip.test",
    }),
  );
  const running = parts.move();
  const transport = direct(loyalty, voucher, campaign, validation, service);
  return {
    url,
    folder,
    errors,
    transport,
    client: <Desc extends DescService>(desc: Desc) => clientOf(desc, transport),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
