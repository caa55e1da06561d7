import { fromBinary } from "@bufbuild/protobuf";
import {
  type Chunk,
  type ChunkRequest,
  type Queryable,
  unpackBytes,
  type Violation,
} from "@scrip/postgres";
import { CommitOutcomeSchema } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

/** Each stored response names redemptions that exist, and no two name the same. */
export async function checkStoredResponses(db: Queryable, request: ChunkRequest): Promise<Chunk> {
  const { rows } = await db.query<{ key: string; outcome: Uint8Array }>(
    // Near a boundary of partitions, a response is stored in both.
    `select distinct on (key) key, outcome
       from idempotency
      where project_id = $1 and key > $2 and kind = 'redemption'
      order by key, created_at desc
      limit $3`,
    [request.projectId, request.after, request.limit],
  );
  const named = rows.flatMap(({ key, outcome }) =>
    redemptionsOf(outcome).map((redemption) => ({ key, ...redemption })),
  );
  const { rows: found } = await db.query<{ id: string; status: string }>(
    "select id, status from redemption where project_id = $1 and id = any($2::text[])",
    [request.projectId, named.map(({ id }) => id)],
  );
  const statuses = new Map(found.map(({ id, status }) => [id, status]));
  const firstKeys = new Map<string, string>();
  const violations: Violation[] = [];
  for (const { key, id, succeeded } of named) {
    const status = statuses.get(id);
    const first = firstKeys.get(id);
    if (status === undefined) violations.push({ subject: key, details: `${id} does not exist` });
    else if ((status !== "FAILED") !== succeeded) {
      violations.push({
        subject: key,
        details: `${id} is ${status}, the stored response says otherwise`,
      });
    }
    if (first !== undefined) {
      violations.push({ subject: key, details: `${id} is also the response to ${first}` });
    }
    firstKeys.set(id, key);
  }
  const last = rows.at(-1)?.key ?? null;
  return { checked: rows.length, last: rows.length < request.limit ? null : last, violations };
}

function redemptionsOf(outcomeBytes: Uint8Array): { id: string; succeeded: boolean }[] {
  const { outcome } = fromBinary(CommitOutcomeSchema, unpackBytes(outcomeBytes));
  if (outcome.case === "committed") {
    const { redemptions, parentRedemption } = outcome.value;
    const all = parentRedemption === undefined ? redemptions : [...redemptions, parentRedemption];
    return all.map(({ id }) => ({ id, succeeded: true }));
  }
  const { resourceType, resourceId } = (outcome.case === "rejected" && outcome.value) || {};
  return resourceType === "redemption" && resourceId ? [{ id: resourceId, succeeded: false }] : [];
}
