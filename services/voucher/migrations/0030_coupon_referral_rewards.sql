-- Rewards of referral programs may also be coupons. The contract restricts their types; programs of the previous release
-- pay a coupon too.
alter table referral_reward drop constraint referral_reward_type_known;
