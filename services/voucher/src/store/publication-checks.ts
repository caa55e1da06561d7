/** Invariants of publications; the statements have the form of those in `voucher-checks.ts`. */

export const HOLDERS = `
  select v.id,
         case when v.holder_id is distinct from held.customer_id
              then format('belongs to %s, was published to %s', v.holder_id, held.customer_id)
              when v.publish_count <> given.count
              then format('counts %s publications, has %s', v.publish_count, given.count)
              when v.publish_count > 1
              then format('was published %s times', v.publish_count)
          end as fault
    from voucher v
    left join redeemable_holder held
           on held.project_id = v.project_id and held.voucher_id = v.id and held.role <> 'REFEREE'
   cross join lateral (
           select count(*) as count
             from publication_voucher pv
             join publication p on p.project_id = pv.project_id and p.id = pv.publication_id
            where pv.project_id = v.project_id and pv.voucher_id = v.id and p.result = 'SUCCESS'
         ) given
   where v.project_id = $1 and v.id > $2
   order by v.id
   limit $3`;
