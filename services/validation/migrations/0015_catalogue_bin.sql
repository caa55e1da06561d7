-- Products and SKUs in the bin: their rows are deleted, their source ids stay reserved until the bin entry is removed.
create table binned_entry (
  project_id text not null,
  id         text not null,
  kind       text not null,
  source_id  text,
  -- The product of a SKU.
  product_id text,
  primary key (project_id, id),
  constraint binned_entry_kind_known check (kind in ('product', 'sku'))
);
create unique index binned_entry_project_source_id on binned_entry (project_id, kind, source_id) where source_id is not null;
create index binned_entry_project_product on binned_entry (project_id, product_id) where product_id is not null;
