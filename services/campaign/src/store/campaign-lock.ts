import type { Queryable } from "@scrip/postgres";

import type { CampaignStatus } from "../domain/campaign.ts";
import {
  CAMPAIGN_COLUMNS,
  type CampaignRecord,
  type CampaignRow,
  fromCampaignRow,
  TURN_SECONDS,
} from "./campaigns.ts";

export type Turn = {
  readonly projectId: string;
  readonly campaignId: string;
  readonly token: string;
};

/** Takes the turn to change a campaign and answers it as it stands now, or undefined: not yet. */
export async function takeTurn(
  db: Queryable,
  { projectId, campaignId, token }: Turn,
): Promise<CampaignRecord | undefined> {
  const { rows } = await db.query<CampaignRow>(
    `with p as (
       update campaign
          set turn = $3, turn_ends_at = now() + make_interval(secs => ${TURN_SECONDS})
        where project_id = $1 and id = $2 and (turn is null or turn_ends_at < now())
       returning *
     )
     select ${CAMPAIGN_COLUMNS}
       from p
       left join category c on c.project_id = p.project_id and c.id = p.category_id`,
    [projectId, campaignId, token],
  );
  return rows[0] && fromCampaignRow(rows[0]);
}

/** What is known when a turn is over. */
export type TurnEnd = {
  readonly status: CampaignStatus;
  readonly vouchersMade: number;
};

/** Who lost the turn in between still counts what was made, but leaves the turn to whose it is. */
export async function endTurn(
  db: Queryable,
  { projectId, campaignId, token }: Turn,
  { status, vouchersMade }: TurnEnd,
): Promise<void> {
  await db.query(
    `update campaign
        set turn = case when turn = $3 then null else turn end,
            creation_status = $4, vouchers_generation_status = $4,
            vouchers_count = vouchers_count + $5
      where project_id = $1 and id = $2`,
    [projectId, campaignId, token, status, vouchersMade],
  );
}

/** Says what a turn is at, for those who read the campaign meanwhile. */
export async function setStatus(
  tx: Queryable,
  { projectId, campaignId }: Turn,
  status: CampaignStatus,
): Promise<void> {
  await tx.query(
    `update campaign
        set creation_status = $3, vouchers_generation_status = $3
      where project_id = $1 and id = $2`,
    [projectId, campaignId, status],
  );
}
