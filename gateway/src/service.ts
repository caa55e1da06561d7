import path from "node:path";

import { type EventBus, startRelay } from "@scrip/events";
import { startKeyExpiry } from "@scrip/idempotency";
import { newId, type NewId } from "@scrip/ids";
import { createDatabase, createDefinitionVersions, migrate, type Queryable } from "@scrip/postgres";
import { createReadiness, type Service } from "@scrip/rpc";

import { createCredentialCache, type CredentialCache } from "./auth/credential-cache.ts";
import { type BootstrapKeys, ensureProject } from "./bootstrap.ts";
import { startDeletingExpired } from "./jobs/delete-expired.ts";
import { startRepublishing } from "./jobs/republish-projects.ts";
import {
  type FindSchemas,
  createMetadataSchemaCache,
} from "./metadata-schemas/metadata-schema-cache.ts";
import { createFollowWebhooks, type FollowWebhooks } from "./projects/follow-webhooks.ts";
import { routes } from "./routes.ts";

export type GatewayServiceOptions = {
  readonly databaseUrl: string;
  readonly poolSize?: number;
  /** Lifetime of access tokens in seconds, at most a day. */
  readonly tokenSeconds?: number;
  /** The first project; required while none exists. */
  readonly bootstrap?: BootstrapKeys | undefined;
  /** Receives the changes of projects; its owner closes it after this service. */
  readonly bus: EventBus;
  readonly logger: { error(fields: object, message: string): void };
  readonly newId?: NewId;
  /** Real time in epoch milliseconds. */
  readonly clock?: () => number;
};

/** The gateway's own RPCs, and what the HTTP edge uses of them in the same process. */
export type GatewayService = Service & {
  readonly db: Queryable;
  readonly credentialCache: CredentialCache;
  readonly findSchemas: FindSchemas;
  readonly followWebhooks: FollowWebhooks;
  readonly clock: () => number;
  /** Whether the bootstrap keys belong to a project. */
  readonly hasBootstrapKeys: boolean;
};

export const SCHEMA = "gateway";
export const ROLE = "scrip_gateway";
export const MIGRATIONS = path.join(import.meta.dirname, "../migrations");

const DEFAULT_POOL_SIZE = 10;
const DEFAULT_TOKEN_SECONDS = 900;

export async function createGatewayService(
  options: GatewayServiceOptions,
): Promise<GatewayService> {
  const { databaseUrl: url, logger, clock = Date.now } = options;
  await migrate({ url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS });

  await using parts = new AsyncDisposableStack();
  const db = createDatabase({
    url,
    schema: SCHEMA,
    role: ROLE,
    poolSize: options.poolSize ?? DEFAULT_POOL_SIZE,
    onError: (error) => logger.error({ error }, "a database connection failed"),
  });
  parts.defer(() => db.close());
  const hasBootstrapKeys = await ensureProject(db, options.bootstrap, clock());

  const onError = (error: Error): void => logger.error({ error }, "a background job failed");
  const relay = startRelay({ db, bus: options.bus, onError });
  parts.defer(relay.close);
  parts.use(startRepublishing(db, { onEvents: relay.wake, onError }));
  parts.use(startKeyExpiry(db, onError));

  const credentialCache = createCredentialCache(db, clock);
  const definitions = createDefinitionVersions({ db });
  parts.use(
    startDeletingExpired(db, (error) =>
      logger.error({ error }, "expired tokens and stored responses could not be deleted"),
    ),
  );
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
    db,
    credentialCache,
    findSchemas: createMetadataSchemaCache(db, definitions),
    followWebhooks: createFollowWebhooks({ db, credentialCache, onEvents: relay.wake }),
    clock,
    hasBootstrapKeys,
    ready: createReadiness(db, (error) =>
      logger.error({ error }, "the gateway cannot write to its database"),
    ),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
