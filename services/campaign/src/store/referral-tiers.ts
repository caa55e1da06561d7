import {
  column,
  columnNames,
  type ColumnTable,
  insertInto,
  type Queryable,
  updateOf,
} from "@scrip/postgres";

import type { Json } from "../domain/campaign.ts";
import { rewardFromJson, rewardToJson } from "../domain/referral-program-json.ts";
import type { ReferralTier } from "../domain/referral-program.ts";

type TierRow = {
  id: string;
  campaign_id: string;
  name: string;
  condition_type: string;
  count: bigint;
  segment_id: string | null;
  reward: Json;
  active: boolean;
  created_at: Date;
  updated_at: Date | null;
};

/** What an edit may change. */
const editableColumns: ColumnTable<ReferralTier> = {
  name: column.text(({ name }) => name),
  condition_type: column.text(({ conditionType }) => conditionType),
  count: column.int8(({ count }) => count),
  segment_id: column.text(({ segmentId }) => segmentId),
  reward: column.json(({ reward }) => JSON.stringify(rewardToJson(reward))),
  active: column.bool(({ active }) => active),
  updated_at: column.timestamp(({ updatedAt }) => updatedAt),
};

const permanentColumns: ColumnTable<ReferralTier> = {
  campaign_id: column.text(({ campaignId }) => campaignId),
  created_at: column.timestamp(({ createdAt }) => createdAt),
};

const columns = { ...editableColumns, ...permanentColumns };

/** All tiers of a referral program, oldest first; there are at most a hundred. */
export async function findReferralTiers(
  db: Queryable,
  projectId: string,
  campaignId: string,
): Promise<readonly ReferralTier[]> {
  const { rows } = await db.query<TierRow>(
    `select t.id, ${columnNames(columns, "t")}
       from referral_tier t
      where t.project_id = $1 and t.campaign_id = $2
      order by t.id`,
    [projectId, campaignId],
  );
  return rows.map((row) => ({
    id: row.id,
    campaignId: row.campaign_id,
    name: row.name,
    conditionType: row.condition_type,
    count: row.count,
    segmentId: row.segment_id,
    reward: rewardFromJson(row.reward),
    active: row.active,
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at?.getTime() ?? null,
  }));
}

const MAX_LISTED = 10;

/** The first tiers of existing programs that name a segment, and their number. */
export async function findTiersNamingSegment(
  db: Queryable,
  projectId: string,
  segmentId: string,
): Promise<{ readonly ids: readonly string[]; readonly total: bigint }> {
  const { rows } = await db.query<{ id: string; total: bigint }>(
    `select t.id, count(*) over () as total
       from referral_tier t
       join campaign c on c.project_id = t.project_id and c.id = t.campaign_id
      where t.project_id = $1 and t.segment_id = $2 and c.deleted_at is null
      order by t.id
      limit ${MAX_LISTED}`,
    [projectId, segmentId],
  );
  return { ids: rows.map(({ id }) => id), total: rows[0]?.total ?? 0n };
}

const insertStatement = insertInto("referral_tier", columns);

export async function insertReferralTier(
  tx: Queryable,
  projectId: string,
  tier: ReferralTier,
): Promise<void> {
  await tx.query(insertStatement(projectId, tier));
}

const updateStatement = updateOf("referral_tier", editableColumns);

export async function updateReferralTier(
  tx: Queryable,
  projectId: string,
  tier: ReferralTier,
): Promise<void> {
  await tx.query(updateStatement(projectId, tier));
}

export async function deleteReferralTier(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<void> {
  await tx.query("delete from referral_tier where project_id = $1 and id = $2", [projectId, id]);
}
