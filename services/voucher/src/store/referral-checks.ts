/** Invariants of referrals and rewards; the statements have the form of those in `voucher-checks.ts`. */

export const CONVERSIONS = `
  select c.id,
         case when v.id is null then format('converts the unknown voucher %s', c.voucher_id)
              when not v.is_referral_code then format('converts %s, which is no referral code', v.id)
              when v.campaign_id is distinct from c.campaign_id
              then format('belongs to %s, its code to %s', c.campaign_id, v.campaign_id)
              when others.count > 0 then 'repeats another conversion of the code and referee'
          end as fault
    from referral_conversion c
    left join voucher v on v.project_id = c.project_id and v.id = c.voucher_id
   cross join lateral (
           select count(*) as count from referral_conversion o
            where o.project_id = c.project_id and o.voucher_id = c.voucher_id
              and o.referee_id = c.referee_id and o.id <> c.id
         ) others
   where c.project_id = $1 and c.id > $2
   order by c.id
   limit $3`;

export const GIVEN_REWARDS = `
  select r.redemption_id as id,
         case when s.id is null then 'belongs to no redemption'
              when (r.status = 'ROLLED_BACK') <> (s.status = 'ROLLED_BACK')
              then format('is %s, its redemption %s', r.status, s.status)
              when r.type = 'CAMPAIGN' and v.campaign_id is distinct from r.campaign_id and r.status = 'COMPLETED'
              then format('was given as %s, which is not of %s', r.voucher_id, r.campaign_id)
              when r.ledger_version is not null and l.amount is distinct from r.amount * r.quantity
              then format('gave %s to %s, whose ledger has %s', r.amount * r.quantity, r.voucher_id, l.amount)
          end as fault
    from reward_redemption r
    left join redemption s on s.project_id = r.project_id and s.id = r.redemption_id
    left join voucher v on v.project_id = r.project_id and v.id = r.voucher_id
    left join voucher_ledger_entry l
           on l.project_id = r.project_id and l.voucher_id = r.voucher_id and l.version = r.ledger_version
   where r.project_id = $1 and r.redemption_id > $2
   order by r.redemption_id
   limit $3`;

export const REWARDS = `
  select r.id,
         case when r.voucher_type = 'GIFT_VOUCHER' and l.amount is distinct from r.amount
              then format('paid %s to %s, whose ledger has %s', r.amount, r.paid_voucher_id, l.amount)
              when v.campaign_id is distinct from r.campaign_id
              then format('was paid to %s, which is not of %s', r.paid_voucher_id, r.campaign_id)
              when others.count > 0 then 'shares its ledger entry with another reward'
          end as fault
    from referral_reward r
    left join voucher v on v.project_id = r.project_id and v.id = r.paid_voucher_id
    left join voucher_ledger_entry l
           on l.project_id = r.project_id and l.voucher_id = r.paid_voucher_id
          and l.version = r.ledger_version
   cross join lateral (
           select count(*) as count from referral_reward o
            where o.project_id = r.project_id and o.customer_id = r.customer_id
              and o.paid_voucher_id = r.paid_voucher_id and o.ledger_version = r.ledger_version
              and o.id <> r.id
         ) others
   where r.project_id = $1 and r.id > $2 and r.status = 'PAID'
   order by r.id
   limit $3`;
