import path from "node:path";

import {
  type EventBus,
  inboxTable,
  OUTBOX_READER,
  outboxTable,
  startRelay,
  type SubscribeOptions,
} from "@scrip/events";
import { createHitRecorder, publishEntry, STORED_REQUEST_TABLE } from "@scrip/idempotency";
import { createDatabase, keepPartitioned, migrate } from "@scrip/postgres";
import { afterProjects, startProjectReplica } from "@scrip/projects";
import {
  createReadiness,
  DEFAULT_RETENTION,
  outboxRetention,
  type FindProject,
  type ReplicatingService,
  type Retention,
} from "@scrip/rpc";
import type { Metrics } from "@scrip/telemetry";

import { CALLERS } from "./callers.ts";
import { createDeps, type Deps } from "./deps.ts";
import { onActivity } from "./events/on-activity.ts";
import { onCustomerDeleted } from "./events/on-customer-deleted.ts";
import { onEarningEvent } from "./events/on-earning-event.ts";
import { CAMPAIGNS_TOPIC, onLoyaltyProgram } from "./events/on-loyalty-program.ts";
import { onMember, VOUCHERS_TOPIC } from "./events/on-member.ts";
import { onOrderCanceled } from "./events/on-order-canceled.ts";
import { onOrderChanged, ORDERS_TOPIC } from "./events/on-order-changed.ts";
import { onPointsMoved } from "./events/on-points-moved.ts";
import { onRedemptionPoints } from "./events/on-redemption-points.ts";
import { onRedemption, REDEMPTIONS_TOPIC } from "./events/on-redemption.ts";
import { onReferral, REFERRALS_TOPIC } from "./events/on-referral.ts";
import { onValidationRule, RULES_TOPIC } from "./events/on-validation-rule.ts";
import { CUSTOMERS_TOPIC, POINTS_TOPIC } from "./events/topics.ts";
import { startLedgerChaining } from "./jobs/chain-ledger.ts";
import { startPointsLockExpiry } from "./jobs/expire-points-locks.ts";
import { startSegmentFollowing } from "./jobs/follow-segments.ts";
import { startNightlyJobs } from "./jobs/nightly.ts";
import { startAwaitedCardTrim } from "./jobs/trim-awaited-cards.ts";
import { startCanceledOrderTrim } from "./jobs/trim-canceled-orders.ts";
import { routes } from "./routes.ts";
import { activityTables } from "./store/activities.ts";

export const SCHEMA = "loyalty";
export const ROLE = "scrip_loyalty";
export const MIGRATIONS = path.join(import.meta.dirname, "../migrations");

export type LoyaltyOptions = {
  readonly databaseUrl: string;
  /** PgBouncer in front of the database, for the statements of requests. */
  readonly poolerUrl?: string | undefined;
  /** A replica of the database, for lists and exports. */
  readonly replicaUrl?: string | undefined;
  readonly poolSize: number;
  /** Source of the events of other services; its owner closes it after this service. */
  readonly bus: EventBus;
  /** Default: 15 days for the ids of handled events, 6 hours for events. */
  readonly retention?: Retention;
  /** Default: nothing is measured. */
  readonly metrics?: Metrics;
  readonly onError: (error: Error) => void;
};

/** Time for a consumer to finish its batch; unfinished events are delivered again at the next start. */
const CONSUMERS_CLOSE_MS = 3_000;

/** Creates the service without a server; both compositions mount it. */
export async function createLoyaltyService(options: LoyaltyOptions): Promise<ReplicatingService> {
  const { databaseUrl: url, onError } = options;
  await migrate({ url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS, reader: OUTBOX_READER });
  await using parts = new AsyncDisposableStack();
  const db = createDatabase({ ...options, url, schema: SCHEMA, role: ROLE });
  parts.defer(() => db.close());
  const projects = parts.use(
    await startProjectReplica({ ...options, db, group: "loyalty-projects" }),
  );
  parts.use(startPointsLockExpiry(db, onError));
  const relay = startRelay({ db, bus: options.bus, onError });
  parts.defer(relay.close);
  const retention = options.retention ?? DEFAULT_RETENTION;
  const tables = [
    ...activityTables(retention.activityMs),
    STORED_REQUEST_TABLE,
    inboxTable(retention.inboxMs),
    outboxTable(outboxRetention(retention), relay),
  ];
  parts.use(await keepPartitioned({ url, schema: SCHEMA, tables, onError }));
  const wokenJobs: { readonly wake: () => void }[] = [relay];
  const onEvents = (): void => {
    for (const job of wokenJobs) job.wake();
  };
  const deps = createDeps(db, onEvents, onError);
  parts.use(startAwaitedCardTrim(db, onError));
  parts.use(startCanceledOrderTrim(db, onError));
  parts.use(startLedgerChaining(db, onError));
  const following = parts.use(startSegmentFollowing(deps, onError));
  wokenJobs.push(following);
  for (const consumer of consumers(deps, projects.findProject)) {
    const subscription = await projects.bus.subscribe({
      ...consumer,
      async handler(...delivery) {
        await consumer.handler(...delivery);
        // Orders and redemptions change segments, too.
        following.wake();
      },
    });
    parts.defer(() => subscription.close(CONSUMERS_CLOSE_MS));
  }
  parts.use(startNightlyJobs(deps, onError));
  const running = parts.move();
  return {
    name: "loyalty",
    callers: CALLERS,
    implementations: routes(deps),
    findProject: projects.findProject,
    recordHit: createHitRecorder(db, publishEntry, relay.wake),
    definitions: deps.definitions,
    ready: createReadiness(db, onError),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const consumers = (deps: Deps, findProject: FindProject): readonly SubscribeOptions[] => [
  {
    group: "loyalty",
    topics: [REDEMPTIONS_TOPIC],
    handler: afterProjects(findProject, onRedemption(deps.db)),
  },
  {
    group: "loyalty-points",
    topics: [REDEMPTIONS_TOPIC],
    handler: afterProjects(
      findProject,
      onRedemptionPoints(deps),
      onOrderCanceled(deps, findProject),
    ),
  },
  {
    group: "loyalty-orders",
    topics: [ORDERS_TOPIC],
    handler: afterProjects(
      findProject,
      onOrderChanged(deps.db),
      onOrderCanceled(deps, findProject),
    ),
  },
  { group: "loyalty-programs", topics: [CAMPAIGNS_TOPIC], handler: onLoyaltyProgram(deps) },
  {
    group: "loyalty-tiers",
    topics: [POINTS_TOPIC],
    handler: afterProjects(findProject, onPointsMoved(deps)),
  },
  { group: "loyalty-rules", topics: [RULES_TOPIC], handler: onValidationRule(deps) },
  {
    group: "loyalty-members",
    topics: [VOUCHERS_TOPIC],
    handler: afterProjects(findProject, onMember(deps)),
  },
  {
    group: "loyalty-activity",
    topics: [
      REDEMPTIONS_TOPIC,
      VOUCHERS_TOPIC,
      ORDERS_TOPIC,
      CUSTOMERS_TOPIC,
      POINTS_TOPIC,
      REFERRALS_TOPIC,
    ],
    handler: afterProjects(findProject, onActivity(deps.db)),
  },
  {
    group: "loyalty-earning",
    topics: [ORDERS_TOPIC, CUSTOMERS_TOPIC],
    handler: afterProjects(findProject, onEarningEvent(deps)),
  },
  { group: "loyalty-erasure", topics: [CUSTOMERS_TOPIC], handler: onCustomerDeleted(deps.db) },
  {
    group: "loyalty-referrals",
    topics: [REFERRALS_TOPIC],
    handler: afterProjects(findProject, onReferral({ ...deps, findProject })),
  },
];
