import { batchOf, buildStatement, column, type Queryable, rowOf } from "@scrip/postgres";

import {
  editableColumns,
  identityColumns,
  permanentColumns,
  type VoucherIdentity,
  type VoucherTerms,
} from "./voucher-writes.ts";

export type GeneratedVouchers = {
  /** What the vouchers share. */
  readonly terms: VoucherTerms & {
    readonly quantity: bigint | null;
    readonly amount: bigint | null;
  };
  /** Their codes, each once. */
  readonly identities: readonly VoucherIdentity[];
};

/** Inserts those vouchers whose code is free, and returns their number. */
export async function insertGenerated(
  tx: Queryable,
  { terms, identities }: GeneratedVouchers,
): Promise<number> {
  const { rows } = await tx.query<{ inserted: number }>(
    insertStatement({ identities, permanent: terms, editable: terms, usage: terms }),
  );
  return rows[0]?.inserted ?? 0;
}

/** The values that all vouchers share are sent once, whatever the number of vouchers. */
const insertStatement = buildStatement({
  name: "insert-generated-vouchers",
  parts: {
    identities: batchOf(identityColumns),
    permanent: rowOf(permanentColumns),
    editable: rowOf(editableColumns),
    usage: rowOf<GeneratedVouchers["terms"]>({
      quantity: column.int8(({ quantity }) => quantity),
      amount: column.int8(({ amount }) => amount),
    }),
  },
  text: ({ identities, permanent, editable, usage }) => `
    with inserted as (
      insert into voucher (${identities.columns}, ${permanent.columns}, ${editable.columns})
      select ${identities.columns}, ${permanent.values}, ${editable.values}
        from ${identities.rows("generated")}
          on conflict (project_id, code_key) do nothing
      returning project_id, id, campaign_id, definition_version, created_at
    ), usage as (
      insert into voucher_usage (project_id, voucher_id, definition_version, quantity, amount,
             balance, ledger_version)
      select project_id, id, definition_version, ${usage.value("quantity")},
             ${usage.value("amount")}, ${usage.value("amount")},
             case when ${usage.value("amount")} > 0 then 1 else 0 end
        from inserted
    ), ledger as (
      insert into voucher_ledger_entry (project_id, voucher_id, campaign_id, version, amount,
             balance_after, created_at)
      select project_id, id, campaign_id, 1, ${usage.value("amount")}, ${usage.value("amount")}, created_at
        from inserted
       where ${usage.value("amount")} > 0
    )
    select count(*)::int4 as inserted from inserted`,
});

/** Those of the keys that a voucher has, also a deleted one whose code is reserved. */
export async function findTakenKeys(
  tx: Queryable,
  projectId: string,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ code_key: string }>(
    "select code_key from voucher where project_id = $1 and code_key = any($2::text[])",
    [projectId, keys],
  );
  return new Set(rows.map((row) => row.code_key));
}
