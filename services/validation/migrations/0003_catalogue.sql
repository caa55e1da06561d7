-- The catalogue: products and their variants (SKUs). Prices are minor units.

create table product (
  project_id text        not null,
  id         text        not null,
  source_id  text,
  name       text,
  price      bigint,
  -- The names of what its SKUs differ in.
  attributes text[]      not null default '{}',
  image_url  text,
  metadata   jsonb       not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz,

  primary key (project_id, id),
  constraint product_source_id_length check (length(source_id) between 1 and 255),
  constraint product_price_not_negative check (price >= 0)
);

create unique index product_project_source_id on product (project_id, source_id);
create index product_project_created_at on product (project_id, created_at, id);

create table sku (
  project_id text        not null,
  id         text        not null,
  source_id  text,
  product_id text        not null,
  sku        text,
  price      bigint,
  currency   text,
  attributes jsonb       not null default '{}',
  image_url  text,
  metadata   jsonb       not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz,

  primary key (project_id, id),
  foreign key (project_id, product_id) references product (project_id, id) on delete cascade,
  constraint sku_source_id_length check (length(source_id) between 1 and 255),
  constraint sku_price_not_negative check (price >= 0)
);

create unique index sku_project_source_id on sku (project_id, source_id);
create index sku_project_product on sku (project_id, product_id, created_at, id);
