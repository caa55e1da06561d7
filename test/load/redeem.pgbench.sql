-- One redemption as most systems would write it: count it on the voucher, note it, announce it.
\set voucher random(1, :codes)
begin;
update voucher_usage
   set redeemed_quantity = redeemed_quantity + 1, version = version + 1
 where project_id = 'proj_bench' and voucher_id = 'v_' || lpad(to_hex(:voucher::int8), 18, '0')
   and (quantity is null or redeemed_quantity < quantity);
insert into redemption
       (project_id, id, voucher_id, created_at, status, channel_id, channel_type,
        redeemed_quantity_after, redeemed_amount_after, request_id)
values ('proj_bench', 'r_' || lpad(to_hex(nextval('bench_redemption')), 18, '0'),
        'v_' || lpad(to_hex(:voucher::int8), 18, '0'), now(), 'SUCCEEDED', 'app_0123456789abcdef',
        'API', 1, 0, 'v-' || lpad(to_hex(:voucher::int8), 18, '0'));
-- As many bytes as the event of a redemption without an order has.
insert into outbox (project_id, id, topic, key, type, payload)
values ('proj_bench', 'evt_' || lpad(to_hex(currval('bench_redemption')), 18, '0'),
        'scrip.redemptions.v1', 'v_' || lpad(to_hex(:voucher::int8), 18, '0'),
        'scrip.events.v1.RedemptionMade', decode(repeat('5a', 80), 'hex'));
commit;
