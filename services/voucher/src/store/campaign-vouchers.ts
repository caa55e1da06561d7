import { type CodeMask, patternOf } from "@scrip/codes";
import type { Queryable } from "@scrip/postgres";

import type { CampaignChange } from "../domain/campaign-change.ts";
import { discountToJson } from "./discount-json.ts";
import { keyFrom, keyOf } from "./redemption-keys.ts";
import { hoursToJson } from "./voucher-rows.ts";

type Campaign = { readonly projectId: string; readonly campaignId: string };

/** Number of codes of a campaign that match this mask, including deleted vouchers, whose codes stay reserved. */
export async function countCodes(
  db: Queryable,
  query: Campaign & { readonly mask: CodeMask; readonly caseSensitive: boolean },
): Promise<bigint> {
  const { rows } = await db.query<{ count: bigint }>(
    `select count(*) as count
       from voucher
      where project_id = $1 and campaign_id = $2 and code_key is not null
        and code ${query.caseSensitive ? "~" : "~*"} $3`,
    [query.projectId, query.campaignId, patternOf(query.mask)],
  );
  return rows[0]?.count ?? 0n;
}

/** The type that all vouchers of a campaign have; undefined when it has none. */
export async function findTypeOfCampaign(
  db: Queryable,
  projectId: string,
  campaignId: string,
): Promise<string | undefined> {
  const { rows } = await db.query<{ type: string }>(
    `select type
       from voucher
      where project_id = $1 and campaign_id = $2
      order by id
      limit 1`,
    [projectId, campaignId],
  );
  return rows[0]?.type;
}

/** The next ids of a campaign's vouchers after one of them, in order. */
export async function listCampaignVoucherIds(
  db: Queryable,
  query: Campaign & { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id
       from voucher
      where project_id = $1 and campaign_id = $2 and id > $3 and deleted_at is null
      order by id
      limit $4`,
    [query.projectId, query.campaignId, query.after, query.limit],
  );
  return rows.map(({ id }) => id);
}

export type CampaignUpdate = {
  readonly projectId: string;
  readonly change: CampaignChange;
  readonly now: number;
  readonly ids: readonly string[];
};

/**
 * Copies the new terms of a campaign to its vouchers that are neither published nor redeemed, and returns their ids. A
 * voucher whose dates would contradict each other stays unchanged. There may be very many vouchers, so one statement
 * takes the locks of redemptions in their order, writes, and copies the versions. Postgres evaluates the conditions
 * again on rows that changed while it waited for their locks.
 */
export async function updateTerms(tx: Queryable, update: CampaignUpdate): Promise<string[]> {
  const { projectId, change, now, ids } = update;
  const values: unknown[] = [projectId, ids, new Date(now)];
  const columns = columnsOf(change);
  if (columns.size === 0 && change.giftAmount === undefined) return [];
  const assignments = [...columns].map(
    ([column, value]) => `${column} = $${values.push(value)}::${typeOf(column)}`,
  );
  const after = (column: string): string => {
    const assignment = assignments.find((text) => text.startsWith(`${column} = `));
    return assignment === undefined ? column : assignment.slice(`${column} = `.length);
  };
  const { rows } = await tx.query<{ id: string }>({
    planning: "hashJoins",
    text: `with held as (
       select voucher_id from voucher_usage
        where project_id = $1 and voucher_id = any($2::text[])
          and not deleted and redeemed_quantity = 0 and redeemed_amount = 0
        order by voucher_id
          for no key update
     ), changed as (
       update voucher
          set definition_version = definition_version + 1, ${["updated_at = $3", ...assignments].join(", ")}
         from held
        where project_id = $1 and id = any($2::text[]) and id = held.voucher_id and publish_count = 0
          and (${after("expiration_date")} >= ${after("start_date")}) is not false
       returning id, definition_version
     ), repeated as (
       update voucher_usage u
          set definition_version = changed.definition_version, version = u.version + 1
         from changed
        where u.project_id = $1 and u.voucher_id = any($2::text[]) and u.voucher_id = changed.id
     )
     select id from changed`,
    values,
  });
  return rows.map(({ id }) => id);
}

/** The values to set, by column. */
function columnsOf(change: CampaignChange): ReadonlyMap<string, unknown> {
  const columns = new Map<string, unknown>();
  const { validity } = change;
  const set = (column: string, value: unknown): void => {
    if (value !== undefined) columns.set(column, value);
  };
  set("category_id", change.categoryId);
  set("activity_duration", change.activityDuration);
  set("discount", change.discount && JSON.stringify(discountToJson(change.discount)));
  set("gift_effect", change.giftEffect);
  set("loyalty_points", change.loyaltyPoints);
  set("start_date", toDate(validity.startDate));
  set("expiration_date", toDate(validity.expirationDate));
  set("validity_timeframe", validity.timeframe && JSON.stringify(validity.timeframe));
  set("validity_day_of_week", validity.daysOfWeek);
  set("validity_hours", validity.hours && JSON.stringify(hoursToJson(validity.hours)));
  return columns;
}

const toDate = (instant: number | null | undefined): Date | null | undefined =>
  typeof instant === "number" ? new Date(instant) : instant;

const TYPES: Readonly<Record<string, string>> = {
  discount: "jsonb",
  loyalty_points: "int8",
  start_date: "timestamptz",
  expiration_date: "timestamptz",
  validity_timeframe: "jsonb",
  validity_day_of_week: "smallint[]",
  validity_hours: "jsonb",
};

const typeOf = (column: string): string => TYPES[column] ?? "text";

/** Merges metadata into vouchers and removes keys. Their usages must be locked. */
export async function mergeMetadata(
  tx: Queryable,
  { projectId, change, now, ids }: CampaignUpdate,
): Promise<void> {
  await tx.query(
    `update voucher
        set definition_version = definition_version + 1, updated_at = $3,
            metadata = (metadata || $4::jsonb) - $5::text[]
      where project_id = $1 and id = any($2::text[])`,
    [projectId, ids, new Date(now), JSON.stringify(change.metadata), change.unsetMetadataFields],
  );
}

/** Changes the amount of gift vouchers without redemptions, and adds the difference to their ledgers. */
export async function changeGiftAmounts(
  tx: Queryable,
  {
    projectId,
    ids,
    amount,
    now,
  }: Pick<CampaignUpdate, "projectId" | "ids" | "now"> & {
    readonly amount: bigint;
  },
): Promise<void> {
  await tx.query({
    planning: "hashJoins",
    text: `with before as (
       select u.project_id, u.voucher_id, v.campaign_id, u.amount, u.ledger_version
         from voucher_usage u
         join voucher v on v.id = u.voucher_id
        where u.project_id = $1 and u.voucher_id = any($2::text[]) and u.amount <> $3
          and v.project_id = $1 and v.id = any($2::text[])
     ), entry as (
       insert into voucher_ledger_entry (project_id, voucher_id, campaign_id, version, amount,
              balance_after, created_at)
       select project_id, voucher_id, campaign_id, ledger_version + 1, $3::int8 - amount, $3::int8, $4
         from before
     )
     update voucher_usage u
        set amount = $3, balance = $3, ledger_version = u.ledger_version + 1
       from before
      where u.project_id = $1 and u.voucher_id = any($2::text[]) and u.voucher_id = before.voucher_id`,
    values: [projectId, ids, amount, new Date(now)],
  });
}

/** Copies the versions of definitions to the usages, where redemptions check them. */
export async function copyDefinitionVersions(
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<void> {
  await tx.query({
    planning: "hashJoins",
    text: `update voucher_usage u
        set definition_version = v.definition_version, version = u.version + 1
       from voucher v
      where v.project_id = $1 and v.id = any($2::text[])
        and u.project_id = $1 and u.voucher_id = any($2::text[]) and u.voucher_id = v.id
        and u.definition_version <> v.definition_version`,
    values: [projectId, ids],
  });
}

/**
 * Marks those of the vouchers as deleted that are not, and returns their ids. Takes the locks of redemptions in their
 * order: a redemption has committed before, or is rejected. Codes stay reserved.
 */
export async function markVouchersDeleted(
  tx: Queryable,
  change: { readonly projectId: string; readonly ids: readonly string[]; readonly at: number },
): Promise<readonly string[]> {
  const { rows } = await tx.query<{ id: string }>({
    planning: "hashJoins",
    text: `with held as (
       select voucher_id from voucher_usage
        where project_id = $1 and voucher_id = any($2::text[]) and not deleted
        order by voucher_id
          for no key update
     ), usage as (
       update voucher_usage u
          set deleted = true, definition_version = u.definition_version + 1, version = u.version + 1
         from held
        where u.project_id = $1 and u.voucher_id = any($2::text[]) and u.voucher_id = held.voucher_id
       returning u.voucher_id, u.definition_version
     )
     update voucher v
        set deleted_at = $3, definition_version = usage.definition_version
       from usage
      where v.project_id = $1 and v.id = any($2::text[]) and v.id = usage.voucher_id
     returning v.id`,
    values: [change.projectId, change.ids, new Date(change.at)],
  });
  return rows.map(({ id }) => id);
}

/** The next ids of a campaign's vouchers after one of them, in order, including deleted vouchers. */
export async function listAllVoucherIds(
  db: Queryable,
  query: Campaign & { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id
       from voucher
      where project_id = $1 and campaign_id = $2 and id > $3
      order by id
      limit $4`,
    [query.projectId, query.campaignId, query.after, query.limit],
  );
  return rows.map(({ id }) => id);
}

const OF_VOUCHER = `${keyOf("r", "voucher_id")} = ${keyFrom("$1", "v.id")}`;

/** Frees the codes of deleted vouchers, and removes those that nothing refers to. */
export async function purgeVouchers(
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(
    `select v.id
       from voucher v
      where v.project_id = $1 and v.id = any($2::text[]) and v.deleted_at is not null
        and v.publish_count = 0
        and not exists (select from redemption r where ${OF_VOUCHER} and status = 'SUCCEEDED')
        and not exists (select from redemption r where ${OF_VOUCHER} and status <> 'SUCCEEDED')`,
    [projectId, ids],
  );
  const unused = rows.map(({ id }) => id);
  for (const table of ["voucher_usage", "voucher_ledger_entry", "reservation", "imported_usage"])
    await tx.query(`delete from ${table} where project_id = $1 and voucher_id = any($2::text[])`, [
      projectId,
      unused,
    ]);
  await tx.query("delete from voucher where project_id = $1 and id = any($2::text[])", [
    projectId,
    unused,
  ]);
  await tx.query(
    `update voucher
        set code_key = null
      where project_id = $1 and id = any($2::text[]) and deleted_at is not null
        and code_key is not null`,
    [projectId, ids],
  );
}
