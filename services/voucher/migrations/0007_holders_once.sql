-- voucher_project_holder_created_at finds the vouchers of a holder too.
drop index voucher_project_holder;
