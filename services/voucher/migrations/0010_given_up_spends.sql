-- Finds what was given up long ago among all the spends that redemptions used, which stay.

create index points_claim_given_up on points_claim (created_at) where redemption_id is null;
