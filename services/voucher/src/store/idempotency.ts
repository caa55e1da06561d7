import { type Queryable, textArray, unpackBytes } from "@scrip/postgres";

import { rowKey } from "../domain/commit.ts";
import {
  completeOutcome,
  incompleteRedemptions,
  type RowMessages,
} from "../mapping/stored-outcome.ts";

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
    kind: string;
  }>({
    name: "find-responses",
    planning: "indexLookups",
    text: `select stored.project_id, stored.key, stored.request_hash, stored.outcome,
                  stored.kind
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
  const stored = rows.map((row) => ({ ...row, outcome: unpackBytes(row.outcome) }));
  const messages = await findRowMessages(
    db,
    stored.flatMap(({ project_id: projectId, kind, outcome }) =>
      kind === "redemption" ? incompleteRedemptions(outcome).map((id) => ({ projectId, id })) : [],
    ),
  );
  return new Map(
    stored.map((row) => {
      const ofProject = messages.get(row.project_id);
      const outcome = ofProject ? completeOutcome(row.outcome, ofProject) : row.outcome;
      return [rowKey(row.project_id, row.key), { requestHash: row.request_hash, outcome }];
    }),
  );
}

/** What the rows of redemptions have and their stored responses do not repeat; by project and id. */
async function findRowMessages(
  db: Queryable,
  names: readonly { readonly projectId: string; readonly id: string }[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, RowMessages>>> {
  const found = new Map<string, Map<string, RowMessages>>();
  if (names.length === 0) return found;
  const { rows } = await db.query<{
    project_id: string;
    id: string;
    order_message: Uint8Array | null;
    customer_message: Uint8Array | null;
    customer_id: string | null;
    tracking_id: string | null;
    created_at: Date;
    channel_id: string;
    channel_type: string;
  }>({
    name: "find-row-messages",
    planning: "indexLookups",
    text: `select made.project_id, made.id, made.order_message, made.customer_message,
                  made.customer_id, made.tracking_id, made.created_at, made.channel_id, made.channel_type
             from unnest($1::text[], $2::text[]) as name (project_id, id)
            cross join lateral (
                    select * from redemption
                     where project_id = name.project_id and id = name.id
                     limit 1
                  ) made`,
    values: [
      textArray(names.map(({ projectId }) => projectId)),
      textArray(names.map(({ id }) => id)),
    ],
  });
  for (const row of rows) {
    const ofProject = found.get(row.project_id) ?? new Map<string, RowMessages>();
    found.set(row.project_id, ofProject);
    ofProject.set(row.id, {
      order: row.order_message && unpackBytes(row.order_message),
      customer: row.customer_message && unpackBytes(row.customer_message),
      customerId: row.customer_id,
      trackingId: row.tracking_id,
      createdAt: row.created_at.getTime(),
      channelId: row.channel_id,
      channelType: row.channel_type,
    });
  }
  return found;
}
