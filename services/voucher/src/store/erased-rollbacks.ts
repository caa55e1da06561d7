import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  packBytes,
  type Queryable,
  type ReadChunk,
  unpackBytes,
  walkChunks,
} from "@scrip/postgres";
import {
  type Redemption,
  type Rollback,
  type RollbackOutcome,
  RollbackOutcomeSchema,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { mapCommitted } from "../mapping/stored-outcome.ts";
import type { DeletedCustomer } from "./deleted-customers.ts";

/** Number of stored responses, of all kinds, that one statement reads. */
const CHUNK = 2_000;

type Row = { readonly key: string; readonly at: string; readonly outcome: Buffer };
type Chunk = ReadChunk<string> & { readonly rollbacks: readonly Row[] };

/**
 * Removes the order and the customer from stored responses to rollbacks of a customer's redemptions. Those to redemptions
 * contain neither: they are completed from their rows. Scans the project, as no index finds the customer; repeatable.
 */
export async function eraseRollbackResponses(
  db: Queryable,
  { projectId, customerId }: DeletedCustomer,
): Promise<void> {
  await walkChunks({ start: "", size: CHUNK }, async (after) => {
    const chunk = await readChunk(db, projectId, after);
    for (const row of chunk.rollbacks) {
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
    return chunk;
  });
}

/** Rollbacks may be few: the limit is on the responses that are read, not on those that are returned. */
async function readChunk(db: Queryable, projectId: string, after: string): Promise<Chunk> {
  const { rows } = await db.query<ReadChunk<string> & (Row | { readonly key: null })>({
    // The planner does not know how few responses the range has.
    planning: "indexLookups",
    text: `
      with chunk as materialized (
        select max(key) as last, count(*)::int as count
          from (select key from idempotency
                 where project_id = $1 and key > $2
                 order by key
                 limit ${CHUNK}) as next
      )
      select chunk.last, chunk.count, r.key, r.created_at::text as at, r.outcome
        from chunk
        left join idempotency r
               on r.project_id = $1 and r.key > $2 and r.key <= (select last from chunk) and r.kind = 'rollback'`,
    values: [projectId, after],
  });
  return {
    last: rows[0]?.last ?? null,
    count: rows[0]?.count ?? 0,
    rollbacks: rows.filter((row): row is ReadChunk<string> & Row => row.key !== null),
  };
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
