import {
  buildStatement,
  column,
  columnNames,
  type ColumnTable,
  type DefinitionKey,
  type Queryable,
  rowKeyPart,
  rowOf,
  updateOf,
} from "@scrip/postgres";

import type {
  Campaign,
  CampaignKind,
  CampaignStatus,
  CampaignType,
  Json,
} from "../domain/campaign.ts";
import type { Category } from "../domain/category.ts";
import { referralProgramFromJson, referralProgramToJson } from "../domain/referral-program-json.ts";
import { GENERATION_STATUS } from "./campaign-imports.ts";
import {
  CATEGORY_COLUMNS,
  type CategoryColumns,
  categoryFromColumns,
  inKeyOrder,
  optionalJsonToRow,
  validityColumns,
  validityFromRow,
  type ValidityRow,
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

/** What an edit may change: status and counters change concurrently. */
const editableColumns: ColumnTable<Campaign> = {
  ...validityColumns,
  description: column.text(({ description }) => description),
  auto_join: column.bool(({ autoJoin }) => autoJoin),
  join_once: column.bool(({ joinOnce }) => joinOnce),
  type: column.text(({ kind }) => kind),
  category_id: column.text(({ categoryId }) => categoryId),
  activity_duration: column.text(({ activityDuration }) => activityDuration),
  metadata: column.json(({ metadata }) => JSON.stringify(metadata)),
  voucher: column.json(({ voucher }) => voucher && JSON.stringify(voucherTemplateToRow(voucher))),
  referral_program: column.json(({ referralProgram }) =>
    optionalJsonToRow(referralProgram && referralProgramToJson(referralProgram)),
  ),
  loyalty_tiers_expiration: column.json(({ loyaltyTiersExpiration }) =>
    optionalJsonToRow(loyaltyTiersExpiration),
  ),
  updated_at: column.timestamp(({ updatedAt }) => updatedAt),
};

const permanentColumns: ColumnTable<Campaign> = {
  name: column.text(({ name }) => name),
  campaign_type: column.text(({ campaignType }) => campaignType),
  use_voucher_metadata_schema: column.bool((campaign) => campaign.useVoucherMetadataSchema),
  active: column.bool(({ active }) => active),
  creation_status: column.text(({ creationStatus }) => creationStatus),
  vouchers_count: column.int8(({ vouchersCount }) => vouchersCount),
  created_at: column.timestamp(({ createdAt }) => createdAt),
};

/** Read as `GENERATION_STATUS`. */
const statusColumns: ColumnTable<Campaign> = {
  vouchers_generation_status: column.text(({ generationStatus }) => generationStatus),
};

const COLUMNS = `p.id, p.protected, ${columnNames({ ...editableColumns, ...permanentColumns }, "p")},
  ${GENERATION_STATUS} as vouchers_generation_status`;

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
      where p.project_id = $1 and (p.id = $2 or p.name = $2) and p.deleted_at is null
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
             join campaign p
               on p.project_id = key.project_id and p.id = key.id and p.deleted_at is null
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
             join campaign p
               on p.project_id = key.project_id and p.name = key.name and p.deleted_at is null`,
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
  const key = { projectId, id: campaign.id };
  const { rowCount } = await tx.query(
    insertStatement({ key, editable: campaign, permanent: campaign, lock: lockToken }),
  );
  return rowCount === 1 ? "inserted" : "name_taken";
}

const insertStatement = buildStatement({
  parts: {
    key: rowKeyPart,
    editable: rowOf(editableColumns),
    permanent: rowOf({ ...permanentColumns, ...statusColumns }),
    lock: rowOf<string | null>({ turn: column.text((token) => token) }),
  },
  text: ({ key, editable, permanent, lock }) => `
    insert into campaign (${key.columns}, ${editable.columns}, ${permanent.columns},
           ${lock.columns}, turn_ends_at)
    values (${key.values}, ${editable.values}, ${permanent.values}, ${lock.values},
           case when ${lock.value("turn")} is not null
                then now() + make_interval(secs => ${LOCK_SECONDS}) end)
        on conflict (project_id, name) do nothing`,
});

/** Writes the editable columns. */
export async function updateCampaign(
  tx: Queryable,
  projectId: string,
  campaign: Campaign,
): Promise<void> {
  await tx.query(updateStatement(projectId, campaign));
}

const updateStatement = updateOf("campaign", editableColumns);

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
      where p.project_id = $1 and (p.id = $2 or p.name = $2) and p.deleted_at is null
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
      referralProgram:
        row.campaign_type === "REFERRAL_PROGRAM"
          ? referralProgramFromJson(row.referral_program ?? {})
          : null,
      loyaltyTiersExpiration: row.loyalty_tiers_expiration,
      createdAt: row.created_at.getTime(),
      updatedAt: row.updated_at?.getTime() ?? null,
    },
  };
}
