import type { DefinitionKey, Queryable } from "@scrip/postgres";

import type {
  Campaign,
  CampaignKind,
  CampaignStatus,
  CampaignType,
  Json,
} from "../domain/campaign.ts";
import type { Category } from "../domain/category.ts";
import {
  CATEGORY_COLUMNS,
  type CategoryColumns,
  categoryFromColumns,
  validityFromRow,
  inKeyOrder,
  dateToRow,
  jsonToRow,
  type ValidityRow,
  validityToRow,
} from "./columns.ts";
import {
  voucherTemplateFromRow,
  voucherTemplateToRow,
  type VoucherTemplateRow,
} from "./voucher-template.ts";

/** Longer than the deadline of any request: the process that holds a lock for longer has ended. */
export const LOCK_SECONDS = 12;

/** A campaign, and its category unless that was deleted. */
export type CampaignRecord = { readonly campaign: Campaign; readonly category: Category | null };

export type CampaignRow = ValidityRow &
  CategoryColumns & {
    id: string;
    name: string;
    description: string | null;
    campaign_type: CampaignType;
    type: CampaignKind;
    auto_join: boolean;
    join_once: boolean;
    use_voucher_metadata_schema: boolean;
    active: boolean;
    protected: boolean;
    creation_status: CampaignStatus;
    vouchers_generation_status: CampaignStatus;
    vouchers_count: bigint;
    category_id: string | null;
    activity_duration: string | null;
    metadata: Json;
    voucher: VoucherTemplateRow | null;
    referral_program: Json | null;
    loyalty_tiers_expiration: Json | null;
    created_at: Date;
    updated_at: Date | null;
  };

const COLUMNS = `p.id, p.name, p.description, p.campaign_type, p.type, p.auto_join, p.join_once,
  p.use_voucher_metadata_schema, p.active, p.protected, p.creation_status,
  p.vouchers_generation_status, p.vouchers_count, p.category_id, p.start_date, p.expiration_date,
  p.validity_timeframe, p.validity_day_of_week, p.validity_hours, p.activity_duration, p.metadata,
  p.voucher, p.referral_program, p.loyalty_tiers_expiration, p.created_at, p.updated_at`;

/** Columns of `campaign p` and its category `c`. */
export const CAMPAIGN_COLUMNS = `${COLUMNS}, ${CATEGORY_COLUMNS}`;
export const FROM_CAMPAIGN = `from campaign p
  left join category c on c.project_id = p.project_id and c.id = p.category_id`;

/** Finds a campaign by id or else by exact name. */
export async function findCampaign(
  db: Queryable,
  projectId: string,
  idOrName: string,
): Promise<CampaignRecord | undefined> {
  const { rows } = await db.query<CampaignRow>(
    `select ${CAMPAIGN_COLUMNS} ${FROM_CAMPAIGN}
      where p.project_id = $1 and (p.id = $2 or p.name = $2)
      order by p.id = $2 desc
      limit 1`,
    [projectId, idOrName],
  );
  return rows[0] && campaignFromRow(rows[0]);
}

/** Loads campaigns for the definition cache, in the order of the keys, which are ids. */
export async function findCampaigns(
  db: Queryable,
  keys: readonly DefinitionKey[],
): Promise<readonly (CampaignRecord | undefined)[]> {
  const { rows } = await db.query<CampaignRow & { position: bigint }>(
    `select key.position, ${CAMPAIGN_COLUMNS}
             from unnest($1::text[], $2::text[]) with ordinality as key (project_id, id, position)
             join campaign p on p.project_id = key.project_id and p.id = key.id
             left join category c on c.project_id = p.project_id and c.id = p.category_id`,
    [keys.map(({ projectId }) => projectId), keys.map(({ key }) => key)],
  );
  return inKeyOrder(keys, rows, campaignFromRow);
}

/** Loads campaign ids for the definition cache, in the order of the keys, which are names. */
export async function findCampaignIds(
  db: Queryable,
  keys: readonly DefinitionKey[],
): Promise<readonly (string | undefined)[]> {
  const { rows } = await db.query<{ id: string; position: bigint }>(
    `select key.position, p.id
             from unnest($1::text[], $2::text[]) with ordinality as key (project_id, name, position)
             join campaign p on p.project_id = key.project_id and p.name = key.name`,
    [keys.map(({ projectId }) => projectId), keys.map(({ key }) => key)],
  );
  return inKeyOrder(keys, rows, ({ id }) => id);
}

/** With `lockToken` the campaign is locked from the start. */
export async function insertCampaign(
  tx: Queryable,
  projectId: string,
  { campaign, lockToken }: { readonly campaign: Campaign; readonly lockToken: string | null },
): Promise<"inserted" | "name_taken"> {
  const { rowCount } = await tx.query(
    `insert into campaign (project_id, id, start_date, expiration_date, validity_timeframe,
            validity_day_of_week, validity_hours, description, auto_join, join_once, type,
            category_id, activity_duration, metadata, voucher, referral_program,
            loyalty_tiers_expiration, updated_at, name, campaign_type, use_voucher_metadata_schema,
            active, creation_status, vouchers_generation_status, vouchers_count, created_at, turn,
            turn_ends_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
            $20, $21, $22, $23, $24, $25, $26, $27,
            case when $27::text is not null then now() + make_interval(secs => ${LOCK_SECONDS}) end)
         on conflict (project_id, name) do nothing`,
    [
      projectId,
      campaign.id,
      ...updatableValues(campaign),
      campaign.name,
      campaign.campaignType,
      campaign.useVoucherMetadataSchema,
      campaign.active,
      campaign.creationStatus,
      campaign.generationStatus,
      campaign.vouchersCount,
      new Date(campaign.createdAt),
      lockToken,
    ],
  );
  return rowCount === 1 ? "inserted" : "name_taken";
}

/** Writes the updatable columns only: status and counters change concurrently. */
export async function updateCampaign(
  tx: Queryable,
  projectId: string,
  campaign: Campaign,
): Promise<void> {
  await tx.query(
    `update campaign
        set start_date = $3, expiration_date = $4, validity_timeframe = $5,
            validity_day_of_week = $6, validity_hours = $7, description = $8, auto_join = $9,
            join_once = $10, type = $11, category_id = $12, activity_duration = $13, metadata = $14,
            voucher = $15, referral_program = $16, loyalty_tiers_expiration = $17, updated_at = $18
      where project_id = $1 and id = $2`,
    [projectId, campaign.id, ...updatableValues(campaign)],
  );
}

function updatableValues(campaign: Campaign): unknown[] {
  const { voucher } = campaign;
  return [
    ...validityToRow(campaign.validity),
    campaign.description,
    campaign.autoJoin,
    campaign.joinOnce,
    campaign.kind,
    campaign.categoryId,
    campaign.activityDuration,
    jsonToRow(campaign.metadata),
    voucher === null ? null : jsonToRow(voucherTemplateToRow(voucher)),
    jsonToRow(campaign.referralProgram),
    jsonToRow(campaign.loyaltyTiersExpiration),
    dateToRow(campaign.updatedAt),
  ];
}

/** Returns whether the campaign changed. */
export async function updateCampaignActive(
  tx: Queryable,
  projectId: string,
  change: { readonly id: string; readonly active: boolean; readonly at: number },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update campaign
        set active = $3, updated_at = $4
      where project_id = $1 and id = $2 and active <> $3`,
    [projectId, change.id, change.active, new Date(change.at)],
  );
  return rowCount === 1;
}

/** Removes a campaign whose vouchers were rejected. */
export async function deleteCampaign(tx: Queryable, projectId: string, id: string): Promise<void> {
  await tx.query("delete from campaign where project_id = $1 and id = $2", [projectId, id]);
}

/** Locks the row until the transaction ends, so that tiers and stacks are added one at a time. */
export async function lockCampaignRow(
  tx: Queryable,
  projectId: string,
  idOrName: string,
): Promise<CampaignRecord | undefined> {
  const { rows } = await tx.query<CampaignRow>(
    `select ${CAMPAIGN_COLUMNS} ${FROM_CAMPAIGN}
      where p.project_id = $1 and (p.id = $2 or p.name = $2)
      order by p.id = $2 desc
      limit 1
        for no key update of p`,
    [projectId, idOrName],
  );
  return rows[0] && campaignFromRow(rows[0]);
}

export function campaignFromRow(row: CampaignRow): CampaignRecord {
  return {
    category: categoryFromColumns(row),
    campaign: {
      id: row.id,
      name: row.name,
      description: row.description,
      campaignType: row.campaign_type,
      kind: row.type,
      autoJoin: row.auto_join,
      joinOnce: row.join_once,
      useVoucherMetadataSchema: row.use_voucher_metadata_schema,
      active: row.active,
      isProtected: row.protected,
      creationStatus: row.creation_status,
      generationStatus: row.vouchers_generation_status,
      vouchersCount: row.vouchers_count,
      categoryId: row.category_id,
      validity: validityFromRow(row),
      activityDuration: row.activity_duration,
      metadata: row.metadata,
      voucher: row.voucher && voucherTemplateFromRow(row.voucher),
      referralProgram: row.referral_program,
      loyaltyTiersExpiration: row.loyalty_tiers_expiration,
      createdAt: row.created_at.getTime(),
      updatedAt: row.updated_at?.getTime() ?? null,
    },
  };
}
