-- Replica of the state of published loyalty cards; a card without a row can always be used. States arrive in any order
-- relative to the publication, so they are not columns of loyalty_member.
create table card_state (
  project_id      text    not null,
  -- Of the voucher.
  card_id         text    not null,
  -- Of the voucher: an older state never replaces a newer one.
  version         bigint  not null,
  active          boolean not null,
  start_date      timestamptz,
  expiration_date timestamptz,

  primary key (project_id, card_id)
);
