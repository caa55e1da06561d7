-- Which vouchers of a session are being redeemed with its key right now. A claim lives for seconds: a
-- request that died leaves one behind, which any later one of the project removes.

create table session_claim (
  project_id    text        not null,
  session_key   text        not null,
  voucher_id    text        not null,
  -- The idempotency key or the request.
  claimed_by    text        not null,
  claimed_until timestamptz not null,

  primary key (project_id, session_key, voucher_id)
);
