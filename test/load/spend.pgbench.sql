-- A payment with points, as most systems would write it: count the redemption on the card, take the points and note them in the ledger, store
-- the redemption and the order, announce it.
\set voucher random(1, :codes)
begin;
update voucher_usage
   set redeemed_quantity = redeemed_quantity + 1, version = version + 1
 where project_id = 'proj_bench' and voucher_id = 'v_' || lpad(to_hex(:voucher::int8), 18, '0')
   and (quantity is null or redeemed_quantity < quantity);
update loyalty.loyalty_card
   set balance = balance - 1, redeemed_points = redeemed_points + 1, ledger_version = ledger_version + 1
 where project_id = 'proj_bench' and id = 'v_' || lpad(to_hex(:voucher::int8), 18, '0') and balance >= 1
returning balance, ledger_version \gset
-- As many bytes in each column as a redemption over HTTP leaves.
insert into redemption
       (project_id, id, voucher_id, created_at, status, customer_id, channel_id, channel_type,
        redeemed_quantity_after, request_id, order_message, customer_message, order_amount, discounted_amount)
values ('proj_bench', 'r_' || lpad(to_hex(nextval('bench_redemption')), 18, '0'),
        'v_' || lpad(to_hex(:voucher::int8), 18, '0'), now(), 'SUCCEEDED', 'cust_0123456789abcdef01', 'app_0123456789abcdef',
        'API', 1, 'v-' || lpad(to_hex(:voucher::int8), 18, '0'), decode(repeat('5a', 80), 'hex'),
        decode(repeat('5a', 58), 'hex'), 10000, 1);
insert into loyalty.ledger_entry
       (project_id, card_id, version, id, type, points, balance_after, cause, redemption_id, reward_id, created_at)
values ('proj_bench', 'v_' || lpad(to_hex(:voucher::int8), 18, '0'), :ledger_version,
        'vtx_' || lpad(to_hex(currval('bench_redemption')), 18, '0'), 'POINTS_REDEMPTION', -1, :balance,
        'r_' || lpad(to_hex(currval('bench_redemption')), 18, '0'), 'r_' || lpad(to_hex(currval('bench_redemption')), 18, '0'),
        'rew_0123456789abcdef01', now());
insert into outbox (project_id, id, topic, key, type, payload)
values ('proj_bench', 'evt_' || lpad(to_hex(currval('bench_redemption')), 18, '0'),
        'scrip.redemptions.v1', 'v_' || lpad(to_hex(:voucher::int8), 18, '0'),
        'scrip.events.v1.RedemptionMade', decode(repeat('5a', 400), 'hex'));
insert into validation.shop_order (project_id, id, status, customer_id, document, created_at)
values ('proj_bench', 'ord_' || lpad(to_hex(currval('bench_redemption')), 18, '0'), 'PAID',
        'cust_0123456789abcdef01', decode(repeat('5a', 80), 'hex'), now());
commit;
