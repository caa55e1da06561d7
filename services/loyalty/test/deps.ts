import { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { CustomEventService } from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import { CustomerImportService } from "@scrip/proto/scrip/loyalty/v1/customer_imports_pb";
import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import { LiabilityService } from "@scrip/proto/scrip/loyalty/v1/liability_pb";
import { PendingPointsService } from "@scrip/proto/scrip/loyalty/v1/pending_points_pb";
import { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import { SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import { LoyaltyTierService } from "@scrip/proto/scrip/loyalty/v1/tiers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { lockWaits, testDatabase, type TestDatabase } from "@scrip/testing";
import { expect } from "vitest";

import { createDeps } from "../src/deps.ts";
import { routes } from "../src/routes.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";

export type Loyalty = Awaited<ReturnType<typeof startLoyalty>>;

/** The service on a database of its own, with clients over the in-process transport. */
export async function startLoyalty() {
  const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
  const transport = createDirectTransport(routes(createDeps(db)));
  return {
    db,
    cards: clientOf(CardService, transport),
    customEvents: clientOf(CustomEventService, transport),
    customers: clientOf(CustomerService, transport),
    imports: clientOf(CustomerImportService, transport),
    earningRules: clientOf(EarningRuleService, transport),
    liability: clientOf(LiabilityService, transport),
    pendingPoints: clientOf(PendingPointsService, transport),
    rewards: clientOf(RewardService, transport),
    segments: clientOf(SegmentService, transport),
    tiers: clientOf(LoyaltyTierService, transport),
    /** Customers of another process of the service on the same database. */
    replica: () => clientOf(CustomerService, createDirectTransport(routes(createDeps(db)))),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

/** Resolves once `work` is over or a statement of the database waits for a lock. */
export async function untilBlocked(db: TestDatabase, work: Promise<unknown>): Promise<void> {
  let isOver = false;
  void work.catch(() => {}).then(() => (isOver = true));
  await expect.poll(async () => isOver || (await lockWaits(db.url)) > 0).toBe(true);
}
