import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { packBytes, type Queryable, unpackBytes, walkChunks } from "@scrip/postgres";
import {
  type Redemption,
  type Rollback,
  type RollbackOutcome,
  RollbackOutcomeSchema,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { mapCommitted } from "../mapping/stored-outcome.ts";
import type { DeletedCustomer } from "./deleted-customers.ts";

const CHUNK = 500;

type Row = { readonly key: string; readonly at: string; readonly outcome: Buffer };

/**
 * Removes the order and the customer from stored responses to rollbacks of a customer's redemptions. Those to redemptions
 * contain neither: they are completed from their rows. Scans the project, as no index finds the customer; repeatable.
 */
export async function eraseRollbackResponses(
  db: Queryable,
  { projectId, customerId }: DeletedCustomer,
): Promise<void> {
  const start: Pick<Row, "key" | "at"> = { key: "", at: "-infinity" };
  await walkChunks({ start, size: CHUNK }, async (after) => {
    const { rows } = await db.query<Row>(
      `select key, created_at::text as at, outcome from idempotency
        where project_id = $1 and kind = 'rollback' and (key, created_at) > ($2, $3::timestamptz)
        order by key, created_at
        limit ${CHUNK}`,
      [projectId, after.key, after.at],
    );
    for (const row of rows) {
      const outcome = fromBinary(RollbackOutcomeSchema, unpackBytes(row.outcome));
      if (namesCustomer(outcome, customerId)) {
        const erased = packBytes(toBinary(RollbackOutcomeSchema, withoutCustomer(outcome)));
        await db.query(
          `update idempotency set outcome = $4
            where project_id = $1 and key = $2 and created_at = $3::timestamptz`,
          [projectId, row.key, row.at, erased],
        );
      }
    }
    return { last: rows.at(-1) ?? null, count: rows.length };
  });
}

function partsOf({ outcome }: RollbackOutcome): readonly (Rollback | Redemption)[] {
  if (outcome.case !== "committed") return [];
  const { rollbacks, parentRollback, redemptions } = outcome.value;
  return [...rollbacks, ...redemptions, ...(parentRollback === undefined ? [] : [parentRollback])];
}

const namesCustomer = (outcome: RollbackOutcome, id: string): boolean =>
  partsOf(outcome).some(({ customerId, customer }) => customerId === id || customer?.id === id);

const WITHOUT_CUSTOMER = {
  customerId: undefined,
  customer: undefined,
  trackingId: undefined,
  order: undefined,
};

const withoutCustomer = (message: RollbackOutcome): RollbackOutcome =>
  mapCommitted(message, (value) => ({
    ...value,
    rollbacks: value.rollbacks.map((each) => ({ ...each, ...WITHOUT_CUSTOMER })),
    redemptions: value.redemptions.map((each) => ({ ...each, ...WITHOUT_CUSTOMER })),
    parentRollback: value.parentRollback && { ...value.parentRollback, ...WITHOUT_CUSTOMER },
  }));
