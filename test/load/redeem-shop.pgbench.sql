-- What a shop sends, as most systems would write it: count the redemption on the voucher, note it with customer and
-- order, announce it, store the order and the response of the idempotency key.
\set voucher random(1, :codes)
\set customer random(1, 1000)
begin;
update voucher_usage
   set redeemed_quantity = redeemed_quantity + 1, version = version + 1
 where project_id = 'proj_bench' and voucher_id = 'v_' || lpad(to_hex(:voucher::int8), 18, '0')
   and (quantity is null or redeemed_quantity < quantity);
-- As many bytes in each column as a redemption over HTTP leaves.
insert into redemption
       (project_id, id, voucher_id, created_at, status, customer_id, channel_id, channel_type,
        redeemed_quantity_after, request_id, order_message, customer_message, order_amount, discounted_amount, explanation)
values ('proj_bench', 'r_' || lpad(to_hex(nextval('bench_redemption')), 18, '0'),
        'v_' || lpad(to_hex(:voucher::int8), 18, '0'), now(), 'SUCCEEDED',
        'cust_' || lpad(to_hex(:customer::int8), 18, '0'), 'app_0123456789abcdef',
        'API', 1, 'v-' || lpad(to_hex(:voucher::int8), 18, '0'), decode(repeat('5a', 319), 'hex'),
        decode(repeat('5a', 58), 'hex'), 6000, 600, decode(repeat('5a', 171), 'hex'));
insert into outbox (project_id, id, topic, key, type, payload)
values ('proj_bench', 'evt_' || lpad(to_hex(currval('bench_redemption')), 18, '0'),
        'scrip.redemptions.v1', 'v_' || lpad(to_hex(:voucher::int8), 18, '0'),
        'scrip.events.v1.RedemptionMade', decode(repeat('5a', 798), 'hex'));
insert into idempotency (project_id, key, request_hash, outcome, kind)
values ('proj_bench', 'checkout-' || currval('bench_redemption'), decode(repeat('5a', 32), 'hex'),
        decode(repeat('5a', 285), 'hex'), 'redemption');
insert into validation.shop_order (project_id, id, status, customer_id, document, created_at)
values ('proj_bench', 'ord_' || lpad(to_hex(currval('bench_redemption')), 18, '0'), 'CREATED',
        'cust_' || lpad(to_hex(:customer::int8), 18, '0'), decode(repeat('5a', 319), 'hex'), now());
commit;
