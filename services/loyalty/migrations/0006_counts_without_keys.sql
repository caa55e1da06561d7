-- What is counted of a customer goes with the customer by a statement of the deletion. The keys cost
-- more than the rows: each order looked its customer up, whom the transaction holds already.

alter table customer_redemptions drop constraint customer_redemptions_of_customer;
alter table customer_order drop constraint customer_order_of_customer;
