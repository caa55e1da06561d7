import type { JsonObject } from "@bufbuild/protobuf";
import { type Queryable, textArray } from "@scrip/postgres";

import type { SegmentMember } from "../domain/segment-members.ts";
import type { ChangedCustomer } from "./changed-customers.ts";

/** Makes a passive segment one that is followed. Others are followed already, or are static. */
export async function followSegment(tx: Queryable, projectId: string, id: string): Promise<void> {
  await tx.query(
    `update segment
        set type = 'auto-update', sync_status = 'IN_PROGRESS'
      where project_id = $1 and id = $2 and type = 'passive'`,
    [projectId, id],
  );
}

export type FollowedSegment = {
  readonly projectId: string;
  readonly id: string;
  readonly name: string;
  readonly filter: JsonObject;
  /** Whether its members are known, so that a further one has entered it. */
  readonly isSynced: boolean;
};

export async function findFollowedSegments(
  db: Queryable,
  projectIds: readonly string[],
): Promise<readonly FollowedSegment[]> {
  const { rows } = await db.query<{
    project_id: string;
    id: string;
    name: string;
    filter: JsonObject;
    is_synced: boolean;
  }>(
    `select project_id, id, name, filter, sync_status = 'DONE' as is_synced
       from segment
      where project_id = any($1::text[]) and sync_status is not null
      order by project_id, id`,
    [[...new Set(projectIds)]],
  );
  return rows.map(({ project_id: projectId, is_synced: isSynced, ...row }) => ({
    ...row,
    projectId,
    isSynced,
  }));
}

/** The known members among these customers. */
export async function findSegmentMembers(
  db: Queryable,
  customers: readonly ChangedCustomer[],
): Promise<readonly SegmentMember[]> {
  const { rows } = await db.query<MemberRow>(
    `select project_id, segment_id, customer_id
       from segment_member
      where (project_id, customer_id) in (select * from unnest($1::text[], $2::text[]))`,
    [
      textArray(customers.map(({ projectId }) => projectId)),
      textArray(customers.map(({ customerId }) => customerId)),
    ],
  );
  return rows.map(memberFromRow);
}

/** Waits for concurrent deletions of segments, and inserts no members of deleted ones. */
export async function insertSegmentMembers(
  tx: Queryable,
  members: readonly SegmentMember[],
): Promise<void> {
  if (members.length === 0) return;
  await tx.query(
    `insert into segment_member (project_id, segment_id, customer_id)
     select member.*
       from unnest($1::text[], $2::text[], $3::text[]) as member (project_id, segment_id, customer_id)
       join segment s on s.project_id = member.project_id and s.id = member.segment_id
        for key share of s
         on conflict do nothing`,
    columnsOf(members),
  );
}

export async function deleteSegmentMembers(
  tx: Queryable,
  members: readonly SegmentMember[],
): Promise<void> {
  if (members.length === 0) return;
  await tx.query(
    `delete from segment_member
      where (project_id, segment_id, customer_id) in
            (select * from unnest($1::text[], $2::text[], $3::text[]))`,
    columnsOf(members),
  );
}

type MemberRow = {
  readonly project_id: string;
  readonly segment_id: string;
  readonly customer_id: string;
};

const memberFromRow = (row: MemberRow): SegmentMember => ({
  projectId: row.project_id,
  segmentId: row.segment_id,
  customerId: row.customer_id,
});

const columnsOf = (members: readonly SegmentMember[]): readonly unknown[] => [
  textArray(members.map(({ projectId }) => projectId)),
  textArray(members.map(({ segmentId }) => segmentId)),
  textArray(members.map(({ customerId }) => customerId)),
];

/** A followed segment whose members are being stored, up to the customer `after`. */
export type SegmentSync = {
  readonly projectId: string;
  readonly segmentId: string;
  readonly after: string;
};

/** Whether a customer has changed, or a segment is followed or deleted since recently. */
export async function hasChangesToFollow(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ waiting: boolean }>(
    `select exists (select from changed_customer)
            or exists (select from segment where sync_status = 'IN_PROGRESS')
            or exists (select from deleted_segment) as waiting`,
  );
  return rows[0]?.waiting === true;
}

/** Locks a segment of any project whose members are being stored by no other process. */
export async function lockSegmentSync(tx: Queryable): Promise<SegmentSync | undefined> {
  const { rows } = await tx.query<{ project_id: string; id: string; sync_after: string | null }>(
    `select project_id, id, sync_after
       from segment
      where sync_status = 'IN_PROGRESS'
      limit 1
        for no key update skip locked`,
  );
  const [row] = rows;
  return row && { projectId: row.project_id, segmentId: row.id, after: row.sync_after ?? "" };
}

/** The next customers, by their ids. */
export async function findSyncSlice(
  db: Queryable,
  { projectId, after }: SegmentSync,
  limit: number,
): Promise<readonly ChangedCustomer[]> {
  const { rows } = await db.query<{ id: string }>(
    "select id from customer where project_id = $1 and id > $2 order by id limit $3",
    [projectId, after, limit],
  );
  return rows.map(({ id }) => ({ projectId, customerId: id }));
}

/** Continues after a customer, or ends the sync without one. */
export async function saveSegmentSync(
  tx: Queryable,
  { projectId, segmentId }: SegmentSync,
  after: string | null,
): Promise<void> {
  await tx.query(
    "update segment set sync_status = $3, sync_after = $4 where project_id = $1 and id = $2",
    [projectId, segmentId, after === null ? "DONE" : "IN_PROGRESS", after],
  );
}

/**
 * Deletes at most `limit` members of a deleted segment of any project that no other process works on. Returns whether
 * there may be more.
 */
export async function deleteMembersOfDeleted(tx: Queryable, limit: number): Promise<boolean> {
  const { rows } = await tx.query<{ project_id: string; id: string }>(
    "select project_id, id from deleted_segment limit 1 for update skip locked",
  );
  const [segment] = rows;
  if (segment === undefined) return false;
  const ofSegment = "project_id = $1 and segment_id = $2";
  // Skips members that the deletion or evaluation of a customer deletes, so that there is no deadlock.
  const { rowCount } = await tx.query(
    `delete from segment_member
      where ${ofSegment}
        and customer_id = any(array(
            select customer_id from segment_member
             where ${ofSegment}
             order by customer_id
             limit $3
               for update skip locked))`,
    [segment.project_id, segment.id, limit],
  );
  if (rowCount === limit) return true;
  const { rowCount: finished } = await tx.query(
    `delete from deleted_segment
      where project_id = $1 and id = $2
        and not exists (select from segment_member where ${ofSegment})`,
    [segment.project_id, segment.id],
  );
  return finished === 1;
}
