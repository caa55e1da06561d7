import { buildStatement, column, type ColumnTable, type Queryable, rowOf } from "@scrip/postgres";

import { queueChangedSql } from "./changed-customers.ts";

export type CustomEventRow = {
  readonly id: string;
  readonly customer_id: string;
  readonly name: string;
  readonly schema_id: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly loyalty_card_id: string | null;
  readonly referral_code: string | null;
  readonly created_at: Date;
};

const columns: ColumnTable<CustomEventRow> = {
  customer_id: column.text((row) => row.customer_id),
  name: column.text(({ name }) => name),
  schema_id: column.text((row) => row.schema_id),
  metadata: column.json(({ metadata }) => JSON.stringify(metadata)),
  loyalty_card_id: column.text((row) => row.loyalty_card_id),
  referral_code: column.text((row) => row.referral_code),
  created_at: column.timestamp((row) => row.created_at.getTime()),
};

const insertStatement = buildStatement({
  parts: {
    event: rowOf<CustomEventRow & { readonly projectId: string }>({
      project_id: column.text(({ projectId }) => projectId),
      id: column.text(({ id }) => id),
      ...columns,
    }),
  },
  text: ({ event }) => `
    with inserted as (
      insert into custom_event (${event.columns}) values (${event.values})
      returning project_id, customer_id)
    ${queueChangedSql("inserted", "customer_id")}`,
});

export async function insertCustomEvent(
  tx: Queryable,
  projectId: string,
  row: CustomEventRow,
): Promise<void> {
  await tx.query(insertStatement({ event: { ...row, projectId } }));
}
