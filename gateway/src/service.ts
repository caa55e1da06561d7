import path from "node:path";

import { currentTime } from "@scrip/clock";
import {
  type EventBus,
  OUTBOX_READER,
  outboxTable,
  startRelay,
  type SubscribeOptions,
} from "@scrip/events";
import { createHitRecorder, publishEntry, STORED_REQUEST_TABLE } from "@scrip/idempotency";
import { newId, type NewId } from "@scrip/ids";
import {
  createDatabase,
  createDefinitionVersions,
  keepPartitioned,
  migrate,
  type Queryable,
} from "@scrip/postgres";
import {
  createReadiness,
  DEFAULT_RETENTION,
  eventRetention,
  type Retention,
  type Service,
} from "@scrip/rpc";
import type { Metrics } from "@scrip/telemetry";

import { createCredentialCache, type CredentialCache } from "./auth/credential-cache.ts";
import { type BootstrapKeys, ensureProject } from "./bootstrap.ts";
import { CUSTOMERS_TOPIC, onCustomerDeleted } from "./events/on-customer-deleted.ts";
import { onEarningRules, PROGRAMS_TOPIC } from "./events/on-earning-rules.ts";
import { startDeletingExpired } from "./jobs/delete-expired.ts";
import { startRepublishing } from "./jobs/republish-projects.ts";
import {
  type FindSchemas,
  createMetadataSchemaCache,
} from "./metadata-schemas/metadata-schema-cache.ts";
import { createFollowProject, type FollowProject } from "./projects/follow-project.ts";
import { routes } from "./routes.ts";

export type GatewayServiceOptions = {
  readonly databaseUrl: string;
  /** PgBouncer in front of the database, for the statements of requests. */
  readonly poolerUrl?: string | undefined;
  /** A replica of the database, for lists and exports. */
  readonly replicaUrl?: string | undefined;
  readonly poolSize?: number;
  /** Lifetime of access tokens in seconds, at most a day. */
  readonly tokenSeconds?: number;
  /** The first project; required while none exists. */
  readonly bootstrap?: BootstrapKeys | undefined;
  /** Receives the changes of projects; its owner closes it after this service. */
  readonly bus: EventBus;
  /** Default: 72 hours for events. */
  readonly retention?: Retention;
  readonly logger: { error(fields: object, message: string): void };
  /** Default: nothing is measured. */
  readonly metrics?: Metrics;
  readonly newId?: NewId;
  /** Real time in epoch milliseconds. */
  readonly clock?: () => number;
};

/** The gateway's own RPCs, and what the HTTP edge uses of them in the same process. */
export type GatewayService = Service & {
  readonly db: Queryable;
  readonly credentialCache: CredentialCache;
  readonly findSchemas: FindSchemas;
  readonly followProject: FollowProject;
  readonly clock: () => number;
  /** Whether the bootstrap keys belong to a project. */
  readonly hasBootstrapKeys: boolean;
};

export const SCHEMA = "gateway";
export const ROLE = "scrip_gateway";
export const MIGRATIONS = path.join(import.meta.dirname, "../migrations");

/** Time for a consumer to finish its batch; unfinished events are delivered again at the next start. */
const CONSUMERS_CLOSE_MS = 3_000;

/** Services wait for a project that another replica has changed; changes are rare, so the relay is idle. */
const RELAY_POLL_MS = 500;

const DEFAULT_POOL_SIZE = 10;
const DEFAULT_TOKEN_SECONDS = 900;

export async function createGatewayService(
  options: GatewayServiceOptions,
): Promise<GatewayService> {
  const { databaseUrl: url, logger, clock = currentTime } = options;
  await migrate({ url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS, reader: OUTBOX_READER });

  await using parts = new AsyncDisposableStack();
  const db = createDatabase({
    url,
    poolerUrl: options.poolerUrl,
    replicaUrl: options.replicaUrl,
    schema: SCHEMA,
    role: ROLE,
    poolSize: options.poolSize ?? DEFAULT_POOL_SIZE,
    metrics: options.metrics,
    onError: (error) => logger.error({ error }, "a database connection failed"),
  });
  parts.defer(() => db.close());
  const hasBootstrapKeys = await ensureProject(db, options.bootstrap, clock());

  const onError = (error: Error): void => logger.error({ error }, "a background job failed");
  const timings = { idlePollMs: RELAY_POLL_MS };
  const relay = startRelay({ db, bus: options.bus, onError, timings });
  parts.defer(relay.close);
  // Services that are new find all projects: each is published once a day.
  const retention = eventRetention(options.retention ?? DEFAULT_RETENTION);
  const tables = [STORED_REQUEST_TABLE, outboxTable(retention, relay)];
  parts.use(await keepPartitioned({ url, schema: SCHEMA, tables, onError }));
  parts.use(startRepublishing(db, { onEvents: relay.wake, onError }));

  const credentialCache = createCredentialCache(db, clock, options.metrics);
  const followProject = createFollowProject({ db, credentialCache, onEvents: relay.wake });
  for (const consumer of consumersOf(db, followProject)) {
    const subscription = await options.bus.subscribe(consumer);
    parts.defer(() => subscription.close(CONSUMERS_CLOSE_MS));
  }
  const definitions = createDefinitionVersions({ db });
  parts.use(startDeletingExpired(db, onError));
  const running = parts.move();
  return {
    name: "gateway",
    implementations: routes({
      db,
      credentialCache,
      definitions,
      newId: options.newId ?? newId,
      clock,
      tokenSeconds: options.tokenSeconds ?? DEFAULT_TOKEN_SECONDS,
      onEvents: relay.wake,
    }),
    recordHit: createHitRecorder(db, publishEntry, relay.wake),
    db,
    credentialCache,
    definitions,
    findSchemas: createMetadataSchemaCache(db, definitions),
    followProject,
    clock,
    hasBootstrapKeys,
    ready: createReadiness(db, (error) =>
      logger.error({ error }, "the gateway cannot write to its database"),
    ),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Follows the permanent deletions of customers, and projects that get earning rules. */
const consumersOf = (db: Queryable, followProject: FollowProject): readonly SubscribeOptions[] => [
  { group: "gateway-customers", topics: [CUSTOMERS_TOPIC], handler: onCustomerDeleted(db) },
  { group: "gateway-programs", topics: [PROGRAMS_TOPIC], handler: onEarningRules(followProject) },
];
