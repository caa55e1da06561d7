import path from "node:path";

import { type EventBus, inboxTable, startRelay } from "@scrip/events";
import { startKeyExpiry } from "@scrip/idempotency";
import { newId } from "@scrip/ids";
import { createDatabase, keepPartitioned, migrate } from "@scrip/postgres";
import { startProjectReplica } from "@scrip/projects";
import {
  createReadiness,
  DEFAULT_RETENTION,
  type ReplicatingService,
  type Retention,
} from "@scrip/rpc";

import { createClients, type Transports } from "./clients.ts";
import { onRedemption, REDEMPTIONS_TOPIC } from "./events/on-redemption.ts";
import { onVoucher, VOUCHERS_TOPIC } from "./events/on-voucher.ts";
import { createDefinitionCaches } from "./loading/definition-cache.ts";
import { routes } from "./routes.ts";

export const SCHEMA = "campaign";
export const ROLE = "scrip_campaign";
export const MIGRATIONS = path.join(import.meta.dirname, "../migrations");

export type CampaignOptions = {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly transports: Transports;
  /** Source of the events of other services; its owner closes it after this service. */
  readonly bus: EventBus;
  /** Default: 15 days for the ids of handled events. */
  readonly retention?: Retention;
  /** Number of vouchers that a campaign may have. */
  readonly maxVouchers: number;
  readonly onError: (error: Error) => void;
};

/** Time for a consumer to finish its batch; unfinished events are delivered again at the next start. */
const CONSUMERS_CLOSE_MS = 3_000;

/** Creates the service without a server; both compositions mount it. */
export async function createCampaignService(options: CampaignOptions): Promise<ReplicatingService> {
  const { databaseUrl: url, poolSize, onError } = options;
  await migrate({ url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
  await using parts = new AsyncDisposableStack();
  const db = createDatabase({ url, schema: SCHEMA, role: ROLE, poolSize, onError });
  parts.defer(() => db.close());
  const projects = parts.use(
    await startProjectReplica({ db, bus: options.bus, group: "campaign-projects" }),
  );
  parts.use(startKeyExpiry(db, onError));
  const { inboxMs } = options.retention ?? DEFAULT_RETENTION;
  parts.use(await keepPartitioned({ url, schema: SCHEMA, tables: [inboxTable(inboxMs)], onError }));
  const vouchers = await projects.bus.subscribe({
    group: "campaign",
    topics: [VOUCHERS_TOPIC],
    handler: onVoucher(db, newId),
  });
  parts.defer(() => vouchers.close(CONSUMERS_CLOSE_MS));
  const redemptions = await projects.bus.subscribe({
    group: "campaign-redemptions",
    topics: [REDEMPTIONS_TOPIC],
    handler: onRedemption(db),
  });
  parts.defer(() => redemptions.close(CONSUMERS_CLOSE_MS));
  const relay = startRelay({ db, bus: options.bus, onError });
  parts.defer(relay.close);
  const running = parts.move();
  return {
    name: "campaign",
    implementations: routes({
      db,
      newId,
      maxVouchers: options.maxVouchers,
      definitions: createDefinitionCaches(db),
      onEvents: relay.wake,
      ...createClients(options.transports),
    }),
    findProject: projects.findProject,
    ready: createReadiness(db, onError),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
