-- Binary message: what a redemption applied to; null where no rule limits it to products.
alter table redemption add column scope bytea;
