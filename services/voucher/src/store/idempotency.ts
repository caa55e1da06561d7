import { type Queryable, textArray, unpackBytes } from "@scrip/postgres";

import { rowKey } from "../domain/commit.ts";

export type StoredResponseKey = { readonly projectId: string; readonly key: string };

export type StoredResponse = {
  readonly requestHash: Uint8Array;
  /** scrip.voucher.v1.CommitOutcome or RollbackOutcome in its binary form. */
  readonly outcome: Uint8Array;
};

/** The stored responses of these keys, by `rowKey` of project and key. */
export async function findStoredResponses(
  db: Queryable,
  names: readonly StoredResponseKey[],
): Promise<ReadonlyMap<string, StoredResponse>> {
  if (names.length === 0) return new Map();
  const { rows } = await db.query<{
    project_id: string;
    key: string;
    request_hash: Uint8Array;
    outcome: Uint8Array;
  }>({
    name: "find-responses",
    planning: "indexLookups",
    text: `select stored.project_id, stored.key, stored.request_hash, stored.outcome
             from unnest($1::text[], $2::text[]) as name (project_id, key)
            cross join lateral (
                    select * from idempotency
                     where project_id = name.project_id and key = name.key
                     limit 1
                  ) stored`,
    values: [
      textArray(names.map(({ projectId }) => projectId)),
      textArray(names.map(({ key }) => key)),
    ],
  });
  return new Map(
    rows.map((row) => [
      rowKey(row.project_id, row.key),
      { requestHash: row.request_hash, outcome: unpackBytes(row.outcome) },
    ]),
  );
}
