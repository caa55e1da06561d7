import { batchOf, buildStatement, column, type Queryable } from "@scrip/postgres";

import type { Referral, ReferralFigures } from "../domain/customer.ts";

/** A conversion of a referral code. */
export type NewReferral = Referral & {
  readonly projectId: string;
  readonly voucherId: string;
  readonly refereeId: string;
};

/** Stores referrals; of each code and referee only the first. Rows are inserted in key order against deadlocks. */
export async function insertReferrals(
  tx: Queryable,
  referrals: readonly NewReferral[],
): Promise<void> {
  await tx.query(insertStatement({ referrals }));
}

const insertStatement = buildStatement({
  name: "insert-referrals",
  parts: {
    referrals: batchOf<NewReferral>({
      project_id: column.text(({ projectId }) => projectId),
      voucher_id: column.text(({ voucherId }) => voucherId),
      referee_id: column.text(({ refereeId }) => refereeId),
      referrer_id: column.text(({ referrerId }) => referrerId),
      campaign_id: column.text(({ campaignId }) => campaignId),
      redemption_id: column.text(({ relatedObject }) => relatedObject.id),
      related_object_type: column.text(({ relatedObject }) => relatedObject.type),
      redeemed_at: column.timestamp(({ at }) => at.getTime()),
    }),
  },
  text: ({ referrals }) => `
    insert into referral (${referrals.columns})
    select ${referrals.columns}
      from ${referrals.numberedRows("one")}
     order by project_id, voucher_id, referee_id, position
        on conflict (project_id, voucher_id, referee_id) do nothing`,
});

type ReferralRow = {
  referee_id: string;
  referrer_id: string;
  campaign_id: string;
  redemption_id: string;
  related_object_type: string;
  redeemed_at: Date;
};

/** The referrals of customers as referee and as referrer, by customer id; none for customers without any. */
export async function findReferralFigures(
  db: Queryable,
  projectId: string,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, ReferralFigures>> {
  const [{ rows: referrals }, { rows: counts }] = await Promise.all([
    db.query<ReferralRow>(
      `select referee_id, referrer_id, campaign_id, redemption_id, related_object_type,
              redeemed_at
         from referral
        where project_id = $1 and referee_id = any($2::text[])
        order by redeemed_at, redemption_id`,
      [projectId, customerIds],
    ),
    db.query<{ referrer_id: string; campaign_id: string | null; referred: bigint }>(
      // The total of a referrer has no campaign id: a referee of two campaigns counts once in it.
      `select referrer_id, campaign_id, count(distinct referee_id) as referred
         from referral
        where project_id = $1 and referrer_id = any($2::text[])
        group by grouping sets ((referrer_id), (referrer_id, campaign_id))`,
      [projectId, customerIds],
    ),
  ]);
  const byReferee = Map.groupBy(referrals, ({ referee_id: id }) => id);
  const byReferrer = Map.groupBy(counts, ({ referrer_id: id }) => id);
  return new Map(
    customerIds.map((id) => {
      const referred = byReferrer.get(id) ?? [];
      const figures: ReferralFigures = {
        referrals: (byReferee.get(id) ?? []).map(referralFromRow),
        referredCustomers: referred.find((row) => row.campaign_id === null)?.referred ?? 0n,
        referredByCampaign: Object.fromEntries(
          referred.flatMap(({ campaign_id: campaign, referred: count }) =>
            campaign === null ? [] : [[campaign, count]],
          ),
        ),
      };
      return [id, figures];
    }),
  );
}

const referralFromRow = (row: ReferralRow): Referral => ({
  referrerId: row.referrer_id,
  campaignId: row.campaign_id,
  relatedObject: { type: row.related_object_type, id: row.redemption_id },
  at: row.redeemed_at,
});
