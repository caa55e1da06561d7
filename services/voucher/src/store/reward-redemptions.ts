import { type EventEnvelope, type Origin, originFromStored, originToStored } from "@scrip/events";
import { batchOf, buildStatement, column, type Queryable, textArray } from "@scrip/postgres";

import { rowKey } from "../domain/usage.ts";

export type RewardRedemptionKey = { readonly projectId: string; readonly redemptionId: string };

/** What a redemption of a MATERIAL or CAMPAIGN reward owes. */
export type RewardRedemption = RewardRedemptionKey & {
  readonly type: "CAMPAIGN" | "MATERIAL";
  readonly customerId: string;
  /** Number of rewards. */
  readonly quantity: bigint;
  /** CAMPAIGN rewards only. */
  readonly campaignId: string | null;
  /** Points or credits of one reward; null: a voucher is published. */
  readonly amount: bigint | null;
  readonly at: number;
  /** The request that redeemed it, in projects with webhooks or earning rules. */
  readonly origin: Origin | undefined;
};

export type RewardStatus = "PENDING" | "COMPLETED" | "ROLLED_BACK" | "FAILED";

/** While a process attempts a reward, others leave it alone: for longer than an attempt takes, as the process may end. */
const TAKEN_SECONDS = 30;
/** The pause after a failed attempt is 1 second, and doubled by each attempt. */
const MAX_PAUSE_SECONDS = 3_600;
/** A reward that cannot be given for this long of real time has failed. */
const GIVE_UP_DAYS = 30;

/** The process that redeems a CAMPAIGN reward also makes the first attempt to give it. */
export async function insertRewardRedemptions(
  tx: Queryable,
  rewards: readonly RewardRedemption[],
): Promise<void> {
  if (rewards.length > 0) await tx.query(insertStatement({ rewards }));
}

const insertStatement = buildStatement({
  parts: {
    rewards: batchOf<RewardRedemption>({
      project_id: column.text(({ projectId }) => projectId),
      redemption_id: column.text(({ redemptionId }) => redemptionId),
      type: column.text(({ type }) => type),
      customer_id: column.text(({ customerId }) => customerId),
      quantity: column.int8(({ quantity }) => quantity),
      campaign_id: column.text(({ campaignId }) => campaignId),
      amount: column.int8(({ amount }) => amount),
      created_at: column.timestamp(({ at }) => at),
      origin: column.json(({ origin }) => originToStored(origin)),
    }),
  },
  text: ({ rewards }) => `
    insert into reward_redemption (${rewards.columns}, next_attempt_at)
    select ${rewards.columns}, case when type = 'CAMPAIGN' then clock_timestamp() + make_interval(secs => ${TAKEN_SECONDS}) end
      from ${rewards.rows("one")}`,
});

/** In the transaction of the rollbacks. A voucher that was published is disabled afterwards. */
export async function rollBackRewards(
  tx: Queryable,
  keys: readonly RewardRedemptionKey[],
): Promise<void> {
  if (keys.length === 0) return;
  await tx.query(
    `with locked as (${lockKeys()})
     update reward_redemption r
        set status = 'ROLLED_BACK',
            next_attempt_at = case when type = 'CAMPAIGN' and amount is null then clock_timestamp() end
       from locked
      where r.project_id = locked.project_id and r.redemption_id = locked.redemption_id`,
    nameValues(keys),
  );
}

/** Locks the rewards of `nameValues` in one order, so that statements on several of them do not deadlock. */
const lockKeys = (condition = "true"): string => `
  select project_id, redemption_id
    from reward_redemption
   where (project_id, redemption_id) in (select * from unnest($1::text[], $2::text[])) and ${condition}
   order by project_id, redemption_id
     for update`;

type Row = {
  project_id: string;
  redemption_id: string;
  type: RewardRedemption["type"];
  customer_id: string;
  quantity: bigint;
  campaign_id: string | null;
  amount: bigint | null;
  status: RewardStatus;
  created_at: Date;
  voucher_id: string | null;
  shown_as_given: boolean | null;
  origin: EventEnvelope["headers"] | null;
};

export type StoredRewardRedemption = RewardRedemption & {
  readonly status: RewardStatus;
  readonly voucherId: string | null;
  /** Whether responses to the redemption show it as given; null: no response was built yet. */
  readonly shownAsGiven: boolean | null;
};

/** By `rowKey` of project and redemption. */
export async function findRewardRedemptions(
  db: Queryable,
  keys: readonly RewardRedemptionKey[],
): Promise<ReadonlyMap<string, StoredRewardRedemption>> {
  if (keys.length === 0) return new Map();
  const { rows } = await db.query<Row>(
    `select * from reward_redemption
      where (project_id, redemption_id) in (select * from unnest($1::text[], $2::text[]))`,
    nameValues(keys),
  );
  return new Map(
    rows.map((row) => [rowKey(row.project_id, row.redemption_id), rewardFromRow(row)]),
  );
}

/**
 * Decides whether responses to these redemptions show their rewards as given. The first response decides, also one that
 * is built while the reward is being given, so that all later ones equal it.
 */
export async function decideShownRewards(
  db: Queryable,
  keys: readonly RewardRedemptionKey[],
): Promise<void> {
  await db.query(
    `with locked as (${lockKeys("shown_as_given is null")})
     update reward_redemption r
        set shown_as_given = status = 'COMPLETED'
       from locked
      where r.project_id = locked.project_id and r.redemption_id = locked.redemption_id`,
    nameValues(keys),
  );
}

/** Takes due rewards for one attempt: until their next one, other processes leave them alone. */
export async function takeDueRewardRedemptions(
  db: Queryable,
  limit: number,
): Promise<readonly StoredRewardRedemption[]> {
  const { rows } = await db.query<Row>(
    `with due as (
       select project_id, redemption_id
         from reward_redemption
        where next_attempt_at <= clock_timestamp()
        order by next_attempt_at
        limit $1
          for update skip locked
     )
     update reward_redemption r
        set attempts = r.attempts + 1,
            next_attempt_at = clock_timestamp() + make_interval(secs => ${TAKEN_SECONDS})
       from due
      where r.project_id = due.project_id and r.redemption_id = due.redemption_id
     returning r.*`,
    [limit],
  );
  return rows.map(rewardFromRow);
}

/** Locks a reward until the transaction ends; undefined when there is none. */
export async function lockRewardRedemption(
  tx: Queryable,
  { projectId, redemptionId }: RewardRedemptionKey,
): Promise<StoredRewardRedemption | undefined> {
  const { rows } = await tx.query<Row>(
    "select * from reward_redemption where project_id = $1 and redemption_id = $2 for update",
    [projectId, redemptionId],
  );
  return rows[0] && rewardFromRow(rows[0]);
}

/** What a completed reward gave. */
export type GivenReward = {
  readonly voucherId: string | null;
  readonly ledgerVersion: bigint | null;
  readonly at: number;
};

export type CompletedReward = RewardRedemptionKey & {
  readonly cardId: string;
  /** The loyalty program. */
  readonly campaignId: string | null;
  readonly customerId: string;
  readonly rewardId: string;
  readonly at: number;
};

/** The reward must be locked. */
export async function completeRewardRedemption(
  tx: Queryable,
  { projectId, redemptionId }: RewardRedemptionKey,
  { voucherId, ledgerVersion, at }: GivenReward,
): Promise<CompletedReward> {
  const { rows } = await tx.query<{
    card_id: string;
    campaign_id: string | null;
    customer_id: string;
    reward_id: string;
  }>(
    `update reward_redemption one
        set status = 'COMPLETED', next_attempt_at = null, reason = null, completed_at = $3, voucher_id = $4,
            ledger_version = $5
       from redemption r
      where one.project_id = $1 and one.redemption_id = $2 and r.project_id = $1 and r.id = $2
      returning r.voucher_id as card_id, r.campaign_id, one.customer_id, r.points -> 'reward' ->> 'id' as reward_id`,
    [projectId, redemptionId, new Date(at), voucherId, ledgerVersion],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`redemption ${redemptionId} has no reward`);
  return {
    projectId,
    redemptionId,
    cardId: row.card_id,
    campaignId: row.campaign_id,
    customerId: row.customer_id,
    rewardId: row.reward_id,
    at,
  };
}

/** After the vouchers of a reward that was rolled back are disabled: nothing is left to do. */
export async function settleRewardRedemption(
  db: Queryable,
  { projectId, redemptionId }: RewardRedemptionKey,
): Promise<void> {
  await db.query(
    `update reward_redemption set next_attempt_at = null
      where project_id = $1 and redemption_id = $2 and status = 'ROLLED_BACK'`,
    [projectId, redemptionId],
  );
}

/** Records why an attempt failed. An old reward is not tried again; vouchers are disabled however long it takes. */
export async function recordFailedDelivery(
  db: Queryable,
  { projectId, redemptionId }: RewardRedemptionKey,
  reason: string,
): Promise<void> {
  const isOver = `status = 'PENDING' and recorded_at < clock_timestamp() - interval '${GIVE_UP_DAYS} days'`;
  await db.query(
    `update reward_redemption
        set reason = $3,
            status = case when ${isOver} then 'FAILED' else status end,
            next_attempt_at = case when not (${isOver}) then clock_timestamp() + make_interval(secs =>
              least(power(2, least(attempts, 20)), ${MAX_PAUSE_SECONDS})) end
      where project_id = $1 and redemption_id = $2 and next_attempt_at is not null`,
    [projectId, redemptionId, reason],
  );
}

const nameValues = (keys: readonly RewardRedemptionKey[]) => [
  textArray(keys.map(({ projectId }) => projectId)),
  textArray(keys.map(({ redemptionId }) => redemptionId)),
];

const rewardFromRow = (row: Row): StoredRewardRedemption => ({
  projectId: row.project_id,
  redemptionId: row.redemption_id,
  type: row.type,
  customerId: row.customer_id,
  quantity: row.quantity,
  campaignId: row.campaign_id,
  amount: row.amount,
  status: row.status,
  at: row.created_at.getTime(),
  voucherId: row.voucher_id,
  shownAsGiven: row.shown_as_given,
  origin: originFromStored(row.origin),
});
