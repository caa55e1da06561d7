-- Named sets of products and SKUs.

create table product_collection (
  project_id text        not null,
  id         text        not null,
  name       text        not null,
  type       text        not null,
  -- What a product or SKU must meet to be in a collection that lists none.
  filter     jsonb,
  created_at timestamptz not null,

  primary key (project_id, id),
  constraint product_collection_type check (type in ('STATIC', 'AUTO_UPDATE')),
  constraint product_collection_filter_of_dynamic
    check ((type = 'AUTO_UPDATE') = (filter is not null))
);

-- What a static collection lists. A product that is listed cannot be deleted; a SKU takes its place
-- in the list with it.
create table product_collection_entry (
  project_id    text   not null,
  collection_id text   not null,
  position      bigint not null,
  product_id    text,
  sku_id        text,

  primary key (project_id, collection_id, position),
  foreign key (project_id, collection_id) references product_collection on delete cascade,
  constraint product_in_collection foreign key (project_id, product_id) references product,
  foreign key (project_id, sku_id) references sku on delete cascade,
  constraint product_collection_entry_names_one check ((product_id is null) <> (sku_id is null))
);

create index product_collection_entry_project_product
  on product_collection_entry (project_id, product_id) where product_id is not null;
create index product_collection_entry_project_sku
  on product_collection_entry (project_id, sku_id) where sku_id is not null;
