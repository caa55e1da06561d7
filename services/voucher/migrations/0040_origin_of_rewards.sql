-- The request that caused a reward, for the events of its payment: headers of an event.
alter table referral_reward add column origin jsonb;
alter table reward_redemption add column origin jsonb;
