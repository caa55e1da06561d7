-- Points of loyalty cards, which the loyalty service keeps.

-- What a card gave, and how it stood right after; of a rollback, what it got back.
alter table redemption add column points jsonb;
alter table redemption_rollback add column points jsonb;

-- Spends of points that were used by a redemption, or that no redemption may use any more. Whoever comes
-- first decides: the primary key holds commits and those who give up apart.
create table points_claim (
  project_id    text        not null,
  spend_id      text        not null,
  -- Null: given up.
  redemption_id text,
  created_at    timestamptz not null default now(),

  primary key (project_id, spend_id)
);
