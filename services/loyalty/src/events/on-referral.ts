import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { currentTime } from "@scrip/clock";
import {
  type DeliveredEvent,
  type EventHandler,
  causedMessages,
  eventMessage,
  type Origin,
} from "@scrip/events";
import type { Database } from "@scrip/postgres";
import {
  type ReferralConverted,
  ReferralConvertedSchema,
  type ReferralRewarded,
  ReferralRewardedSchema,
} from "@scrip/proto/scrip/events/v1/referrals_pb";
import { type FindProject, REQUEST_DEADLINE_MS } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { expiryDate } from "../domain/expiry-date.ts";
import { keyOf } from "../domain/key.ts";
import { localDateAt } from "../domain/local-date.ts";
import { movePoints } from "../points/move-points.ts";
import { findPrograms } from "../store/loyalty-programs.ts";
import { insertReferrals, type NewReferral } from "../store/referrals.ts";
import { lockExistingCustomers } from "./count-orders.ts";

export const REFERRALS_TOPIC = "scrip.referrals.v1";

type ReferralDeps = Pick<Deps, "db" | "newId" | "onEvents"> & {
  readonly findProject: FindProject;
};

/**
 * Counts conversions for the summaries of customers, and adds the points of rewards to their cards. A code converts
 * once per referee, and a reward is the cause of one ledger entry, so repeats need no inbox.
 */
export const onReferral =
  (deps: ReferralDeps): EventHandler =>
  async (events) => {
    await countReferrals(
      deps.db,
      events.flatMap((event) => referralOf(event) ?? []),
    );
    for (const { message: reward, origin } of causedMessages(events, ReferralRewardedSchema)) {
      if (reward.points !== undefined)
        await addPoints(deps, reward, { points: reward.points, origin });
    }
  };

function referralOf(event: DeliveredEvent): NewReferral | undefined {
  const converted = eventMessage(event, ReferralConvertedSchema);
  return converted?.date === undefined
    ? undefined
    : referralFromProto(converted, timestampDate(converted.date));
}

const referralFromProto = (
  { projectId, voucherId, campaignId, referrerId, refereeId, ...converted }: ReferralConverted,
  at: Date,
): NewReferral => ({
  projectId,
  voucherId,
  campaignId,
  referrerId,
  refereeId,
  relatedObject: { type: converted.relatedObjectType, id: converted.relatedObjectId },
  at,
});

/** Conversions of deleted customers are dropped. */
async function countReferrals(db: Database, referrals: readonly NewReferral[]): Promise<void> {
  if (referrals.length === 0) return;
  await db.transaction(async (tx) => {
    const existing = await lockExistingCustomers(tx, referrals.flatMap(customersOf));
    const counted = referrals.filter((referral) => existing(customersOf(referral)).length === 2);
    if (counted.length > 0) await insertReferrals(tx, counted);
  });
}

const customersOf = ({ projectId, refereeId, referrerId }: NewReferral) =>
  [refereeId, referrerId].map((customerId) => ({ projectId, customerId }));

async function addPoints(
  deps: ReferralDeps,
  reward: ReferralRewarded,
  { points, origin }: { readonly points: bigint; readonly origin: Origin | undefined },
): Promise<void> {
  const { projectId, voucherId: cardId, initialPoints = 0n, rewardKey, date } = reward;
  const deadline = currentTime() + REQUEST_DEADLINE_MS;
  const state = await deps.findProject({ projectId, version: origin?.project?.version, deadline });
  if (state === undefined || state.deleted || date === undefined) return;
  const at = timestampMs(date);
  const today = localDateAt(state.project.timeZone, at);
  const key = { projectId, campaignId: reward.campaignId };
  const program = (await findPrograms(deps.db, [key])).get(keyOf(projectId, reward.campaignId));
  const [decision] = await deps.db.transaction((tx) =>
    movePoints(tx, deps, [
      {
        card: { projectId, cardId, initialPoints, campaignId: reward.campaignId },
        type: "POINTS_ADDITION",
        points,
        cause: `referral:${rewardKey}`,
        at,
        expiredBefore: today,
        expiresOn: expiryDate(program?.expirationRules ?? null, today),
        source: "Automation",
        reason: "Referral reward",
        origin,
      },
    ]),
  );
  if (decision?.kind === "rejected") {
    throw new Error(`card ${cardId} cannot get ${points} points: ${decision.key}`);
  }
  deps.onEvents();
}
