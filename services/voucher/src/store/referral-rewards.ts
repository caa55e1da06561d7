import { currentTime } from "@scrip/clock";
import { type EventEnvelope, type Origin, originFromStored, originToStored } from "@scrip/events";
import { timePart } from "@scrip/ids";
import { batchOf, buildStatement, column, type Queryable } from "@scrip/postgres";

import type { PlannedReward, RewardTerms } from "../domain/referral.ts";

export type NewReward = PlannedReward & {
  readonly projectId: string;
  readonly id: string;
  readonly referralCampaignId: string;
  readonly referrerId: string;
  readonly refereeId: string;
  readonly at: number;
  readonly origin: Origin | undefined;
};

/** A reward that is not paid yet. */
export type DueReward = RewardTerms & {
  readonly projectId: string;
  readonly id: string;
  readonly key: string;
  readonly referralCampaignId: string;
  readonly tierId: string | null;
  readonly segmentId: string | null;
  readonly referrerId: string;
  readonly refereeId: string;
  readonly customerId: string;
  /** What caused the reward. */
  readonly origin: Origin | undefined;
};

/** Inserts rewards to be paid immediately; those whose key exists were planned before. */
export async function insertRewards(tx: Queryable, rewards: readonly NewReward[]): Promise<void> {
  if (rewards.length > 0) await tx.query(insertStatement({ rewards }));
}

const insertStatement = buildStatement({
  parts: {
    rewards: batchOf<NewReward>({
      project_id: column.text(({ projectId }) => projectId),
      id: column.text(({ id }) => id),
      reward_key: column.text(({ key }) => key),
      referral_campaign_id: column.text(({ referralCampaignId }) => referralCampaignId),
      tier_id: column.text(({ tierId }) => tierId),
      segment_id: column.text(({ segmentId }) => segmentId),
      referrer_id: column.text(({ referrerId }) => referrerId),
      referee_id: column.text(({ refereeId }) => refereeId),
      customer_id: column.text(({ customerId }) => customerId),
      campaign_id: column.text(({ campaignId }) => campaignId),
      voucher_type: column.text(({ voucherType }) => voucherType),
      amount: column.int8(({ amount }) => amount),
      created_at: column.timestamp(({ at }) => at),
      origin: column.json(({ origin }) => originToStored(origin)),
    }),
  },
  text: ({ rewards }) => `
    insert into referral_reward (${rewards.columns}, next_attempt_at)
    select ${rewards.columns}, clock_timestamp() from ${rewards.rows("one")}
        on conflict (project_id, reward_key) do nothing`,
});

type DueRow = {
  project_id: string;
  id: string;
  reward_key: string;
  referral_campaign_id: string;
  tier_id: string | null;
  segment_id: string | null;
  referrer_id: string;
  referee_id: string;
  customer_id: string;
  campaign_id: string;
  voucher_type: RewardTerms["voucherType"];
  amount: bigint;
  origin: EventEnvelope["headers"] | null;
};

/** A process that takes a reward and ends leaves it alone for this long: longer than an attempt takes. */
const TAKEN_SECONDS = 30;
/** The pause after a failed attempt is 1 second, and doubled by each attempt. */
const MAX_PAUSE_SECONDS = 3_600;
/** A reward that cannot be paid for this long has failed. */
const GIVE_UP_MS = 30 * 24 * 3_600_000;

/** Takes due rewards for one attempt: until their next one, other processes leave them alone. */
export async function takeDueRewards(db: Queryable, limit: number): Promise<readonly DueReward[]> {
  const { rows } = await db.query<DueRow>(
    `with due as (
       select project_id, id
         from referral_reward
        where status = 'PENDING' and next_attempt_at <= clock_timestamp()
        order by next_attempt_at
        limit $1
          for update skip locked
     )
     update referral_reward r
        set attempts = r.attempts + 1,
            next_attempt_at = clock_timestamp() + make_interval(secs => ${TAKEN_SECONDS})
       from due
      where r.project_id = due.project_id and r.id = due.id
     returning r.*`,
    [limit],
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    id: row.id,
    key: row.reward_key,
    referralCampaignId: row.referral_campaign_id,
    tierId: row.tier_id,
    segmentId: row.segment_id,
    referrerId: row.referrer_id,
    refereeId: row.referee_id,
    customerId: row.customer_id,
    campaignId: row.campaign_id,
    voucherType: row.voucher_type,
    amount: row.amount,
    origin: originFromStored(row.origin),
  }));
}

type RewardKey = { readonly projectId: string; readonly id: string };

/** Locks a reward until the transaction ends; false when it is no longer pending. */
export async function lockPendingReward(
  tx: Queryable,
  { projectId, id }: RewardKey,
): Promise<boolean> {
  const { rows } = await tx.query(
    `select 1 as pending
       from referral_reward
      where project_id = $1 and id = $2 and status = 'PENDING'
        for update`,
    [projectId, id],
  );
  return rows.length === 1;
}

/** Marks a reward as paid, in the transaction of the payment. */
export async function markPaid(
  tx: Queryable,
  { projectId, id }: RewardKey,
  payment: {
    readonly voucherId: string;
    readonly ledgerVersion: bigint | null;
    readonly at: number;
  },
): Promise<void> {
  await tx.query(
    `update referral_reward
        set status = 'PAID', next_attempt_at = null, reason = null, paid_at = $3,
            paid_voucher_id = $4, ledger_version = $5
      where project_id = $1 and id = $2`,
    [projectId, id, new Date(payment.at), payment.voucherId, payment.ledgerVersion],
  );
}

/** Cancels a reward that nobody can receive. */
export async function cancelReward(
  db: Queryable,
  { projectId, id }: RewardKey,
  reason: string,
): Promise<void> {
  await db.query(
    `update referral_reward
        set status = 'CANCELED', next_attempt_at = null, reason = $3
      where project_id = $1 and id = $2 and status = 'PENDING'`,
    [projectId, id, reason],
  );
}

/**
 * Records why an attempt failed. An old reward is not tried again. Ids have real time; `created_at` is by the clock of the
 * project, which a sandbox can set.
 */
export async function recordFailedAttempt(
  db: Queryable,
  { projectId, id }: RewardKey,
  reason: string,
): Promise<void> {
  const isOld = `id collate "C" < $4`;
  await db.query(
    `update referral_reward
        set reason = $3,
            status = case when ${isOld} then 'FAILED' else status end,
            next_attempt_at = case when not ${isOld} then clock_timestamp() + make_interval(secs =>
              least(power(2, least(attempts, 20) - 1), ${MAX_PAUSE_SECONDS})) end
      where project_id = $1 and id = $2 and status = 'PENDING'`,
    [projectId, id, reason, `rrw_${timePart(currentTime() - GIVE_UP_MS)}`],
  );
}
