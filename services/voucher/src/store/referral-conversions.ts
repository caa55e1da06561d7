import { type Queryable, repeatUntilNoRows } from "@scrip/postgres";

import type { ConversionCause, ReferralProgram, RefereeCount } from "../domain/referral.ts";
import { referralProgramFromRow } from "./referral-terms.ts";

export type NewConversion = {
  readonly projectId: string;
  readonly id: string;
  readonly voucherId: string;
  readonly campaignId: string;
  readonly referrerId: string;
  readonly refereeId: string;
  readonly cause: ConversionCause;
  readonly at: number;
};

/** The terms of a referral program; undefined when the campaign is unknown or none. */
export async function findReferralProgram(
  db: Queryable,
  projectId: string,
  campaignId: string,
): Promise<ReferralProgram | undefined> {
  const { rows } = await db.query<{
    active: boolean;
    terms: Uint8Array | null;
    tiers: Uint8Array | null;
  }>(
    `select active, referral_terms as terms, referral_tiers as tiers
       from voucher_campaign
      where project_id = $1 and campaign_id = $2 and type = 'REFERRAL_PROGRAM'
        and deleted_at is null`,
    [projectId, campaignId],
  );
  return rows[0] && referralProgramFromRow(rows[0]);
}

/** Those of the projects in which paid orders convert referral codes. */
export async function findProjectsConvertingOrders(
  db: Queryable,
  projectIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ project_id: string }>(
    `select project_id
       from unnest($1::text[]) as one (project_id)
      where exists (
              select from voucher_campaign c
               where c.project_id = one.project_id and c.converts_orders)`,
    [projectIds],
  );
  return new Set(rows.map(({ project_id: id }) => id));
}

/**
 * The referral codes that an order of a customer converts, one per program: a code that they are assigned to, or the
 * oldest code of the order's referrer. With a referrer, only codes of that referrer.
 */
export async function findCodesOfOrder(
  db: Queryable,
  order: {
    readonly projectId: string;
    readonly customerId: string;
    readonly referrerId: string | null;
  },
): Promise<readonly string[]> {
  const { rows } = await db.query<{ voucher_id: string }>(
    `select distinct on (h.campaign_id) h.voucher_id
       from redeemable_holder h
       join voucher_campaign c
         on c.project_id = h.project_id and c.campaign_id = h.campaign_id and c.converts_orders
       join voucher v on v.project_id = h.project_id and v.id = h.voucher_id and v.deleted_at is null
      where h.project_id = $1
        and (h.customer_id = $2 and h.role = 'REFEREE' and ($3::text is null or v.holder_id = $3)
             or h.customer_id = $3 and h.role = 'REFERRER')
      order by h.campaign_id, h.role, h.id`,
    [order.projectId, order.customerId, order.referrerId],
  );
  return rows.map(({ voucher_id: id }) => id);
}

/** Returns whether the referee converted this code for the first time. */
export async function insertConversion(tx: Queryable, conversion: NewConversion): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into referral_conversion (project_id, id, voucher_id, referee_id, referrer_id, campaign_id,
            cause_type, cause_id, converted_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (project_id, voucher_id, referee_id) do nothing`,
    [
      conversion.projectId,
      conversion.id,
      conversion.voucherId,
      conversion.refereeId,
      conversion.referrerId,
      conversion.campaignId,
      conversion.cause.type,
      conversion.cause.id,
      new Date(conversion.at),
    ],
  );
  return rowCount === 1;
}

/** Counts the referees of a referrer, after the conversion was inserted. The membership of the referrer must be locked. */
export async function countReferees(
  tx: Queryable,
  { projectId, id, campaignId, referrerId, refereeId }: NewConversion,
): Promise<RefereeCount> {
  const { rows } = await tx.query<{ referees: bigint; is_new: boolean }>(
    `select count(distinct referee_id) as referees,
            not bool_or(referee_id = $4 and id <> $5) as is_new
       from referral_conversion
      where project_id = $1 and referrer_id = $2 and campaign_id = $3`,
    [projectId, referrerId, campaignId, refereeId, id],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a count returned no row");
  return { isNew: row.is_new, referees: row.referees };
}

/** Conversions that one statement deletes. */
const CHUNK = 1_000;

/** Deletes the conversions of a deleted customer, as referee and as referrer, and rewards that were not paid to them yet. */
export async function deleteConversions(
  db: Queryable,
  { projectId, customerId }: { readonly projectId: string; readonly customerId: string },
): Promise<void> {
  const values = [projectId, customerId];
  for (const column of ["referee_id", "referrer_id"]) {
    await repeatUntilNoRows(() =>
      db.query(
        `delete from referral_conversion
          where project_id = $1
            and id = any(array(select id from referral_conversion
                                where project_id = $1 and ${column} = $2
                                limit ${CHUNK}))`,
        values,
      ),
    );
  }
  await db.query(
    `update referral_reward
        set status = 'CANCELED', next_attempt_at = null, reason = 'the customer was deleted'
      where project_id = $1 and customer_id = $2 and status = 'PENDING'`,
    values,
  );
}
