import { projectTime } from "@scrip/clock";
import { enqueue, INTERNAL } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { type ReadSegments, readSegments } from "../domain/read-segments.ts";
import { matchingSegments, subjectFromProfile } from "../domain/segment-matching.ts";
import { membershipChanges, type SegmentMember } from "../domain/segment-members.ts";
import { NO_READS, segmentsNamedIn } from "../domain/segment-reads.ts";
import { segmentMembershipEvent } from "../events/segment-membership.ts";
import { type ChangedCustomer, takeChangedCustomers } from "../store/changed-customers.ts";
import { findActivity } from "../store/customer-activity.ts";
import { findProfiles } from "../store/customer-profiles.ts";
import { lockCustomers } from "../store/customers.ts";
import { DEFAULT_CALENDAR, findCalendars } from "../store/project-calendars.ts";
import {
  deleteMembersOfDeleted,
  deleteSegmentMembers,
  findFollowedSegments,
  findSegmentMembers,
  findSyncSlice,
  type FollowedSegment,
  hasChangesToFollow,
  insertSegmentMembers,
  lockSegmentSync,
  saveSegmentSync,
} from "../store/segment-members.ts";
import { findMemberships, findSegments } from "../store/segments.ts";

type FollowingDeps = Pick<Deps, "db" | "newId" | "onEvents">;

/** Customers that one transaction evaluates. */
const SLICE = 200;

/** Members of a deleted segment that one transaction deletes. */
const DELETED_MEMBERS = 2_000;

/**
 * Evaluates the followed segments of customers that changed, and reports who entered or left one. Then stores the
 * members of segments that are followed since recently, which enter nothing, and deletes those of deleted segments.
 * Returns whether there may be more to do.
 */
export async function followSegments(deps: FollowingDeps): Promise<boolean> {
  // Mostly there is nothing, which costs no transaction.
  if (!(await hasChangesToFollow(deps.db))) return false;
  const changed = await deps.db.transaction(async (tx) => {
    const customers = await takeChangedCustomers(tx, SLICE);
    await evaluate(tx, deps, customers);
    return customers.length;
  });
  const isSyncing = await deps.db.transaction(async (tx) => {
    const sync = await lockSegmentSync(tx);
    if (sync === undefined) return false;
    const customers = await findSyncSlice(tx, sync, SLICE);
    await evaluate(tx, deps, customers);
    const last = customers.length < SLICE ? undefined : customers.at(-1);
    await saveSegmentSync(tx, sync, last?.customerId ?? null);
    return true;
  });
  const isDeleting = await deps.db.transaction((tx) => deleteMembersOfDeleted(tx, DELETED_MEMBERS));
  if (changed > 0 || isSyncing) deps.onEvents();
  return changed > 0 || isSyncing || isDeleting;
}

async function evaluate(
  tx: Queryable,
  { newId }: FollowingDeps,
  customers: readonly ChangedCustomer[],
): Promise<void> {
  if (customers.length === 0) return;
  const projectIds = customers.map(({ projectId }) => projectId);
  const segments = await findFollowedSegments(tx, projectIds);
  if (segments.length === 0) return;
  // Two evaluations of a customer follow each other, so that the later one sees the newer state.
  const held = await lockCustomers(tx, customers);
  const existing = customers.filter((one) => held.has(keyOf(one.projectId, one.customerId)));
  const [known, calendars, named] = await Promise.all([
    findSegmentMembers(tx, existing),
    findCalendars(tx, projectIds),
    findNamedSegments(tx, segments),
  ]);
  const definitions: Definitions = new Map(
    [...Map.groupBy([...segments, ...named], ({ projectId }) => projectId)].map(
      ([projectId, rows]) => [
        projectId,
        readSegments(rows.filter(({ filter }) => filter !== null)),
      ],
    ),
  );
  const followed = new Set(segments.map(segmentKey));
  const matching = await findMatches(tx, existing, { definitions, calendars });
  // Nobody leaves a segment that cannot be read.
  const { entered, left } = membershipChanges(
    known.filter(
      ({ projectId, segmentId }) => !definitions.get(projectId)?.unreadable.has(segmentId),
    ),
    matching.filter(({ projectId, segmentId: id }) => followed.has(segmentKey({ projectId, id }))),
  );
  await insertSegmentMembers(tx, entered);
  await deleteSegmentMembers(tx, left);
  const synced = new Map(
    segments.filter(({ isSynced }) => isSynced).map((segment) => [segmentKey(segment), segment]),
  );
  const eventOf = (change: "entered" | "left") => (member: SegmentMember) => {
    const segment = synced.get(keyOf(member.projectId, member.segmentId));
    if (segment === undefined) return [];
    const at = projectTime(calendars.get(member.projectId) ?? DEFAULT_CALENDAR);
    const segmentName = segment.name;
    return [segmentMembershipEvent(newId("event"), change, { ...member, segmentName, at })];
  };
  const events = [...entered.flatMap(eventOf("entered")), ...left.flatMap(eventOf("left"))];
  await enqueue(tx, events, INTERNAL);
}

/** Static and passive segments that the filters of followed ones name. */
async function findNamedSegments(tx: Queryable, followed: readonly FollowedSegment[]) {
  const known = new Set(followed.map(segmentKey));
  const named = followed
    .flatMap(({ projectId, filter }) => segmentsNamedIn(filter).map((id) => ({ projectId, id })))
    .filter((one) => !known.has(segmentKey(one)));
  return findSegments(tx, named);
}

/** By project. */
type Definitions = ReadonlyMap<string, ReadSegments>;

/** The dynamic segments that each customer is in. */
async function findMatches(
  tx: Queryable,
  customers: readonly ChangedCustomer[],
  {
    definitions,
    calendars,
  }: {
    readonly definitions: Definitions;
    readonly calendars: Awaited<ReturnType<typeof findCalendars>>;
  },
): Promise<readonly SegmentMember[]> {
  const readers = customers.map(({ projectId, customerId: id }) => {
    const { dynamic = [], reads = NO_READS } = definitions.get(projectId) ?? {};
    return { projectId, id, reads, namesSegments: dynamic.some((each) => each.namesSegments) };
  });
  const [profiles, activity, listed] = await Promise.all([
    findProfiles(tx, readers),
    findActivity(tx, readers),
    findMemberships(
      tx,
      readers.filter(({ namesSegments }) => namesSegments),
    ),
  ]);
  const listedIn = Map.groupBy(listed, (one) => keyOf(one.projectId, one.customerId));
  return profiles.flatMap(({ projectId, profile }): readonly SegmentMember[] => {
    const calendar = calendars.get(projectId) ?? DEFAULT_CALENDAR;
    const time = { now: projectTime(calendar), timeZone: calendar.timeZone };
    const key = keyOf(projectId, profile.id);
    const segmentIds = (listedIn.get(key) ?? []).map(({ segmentId }) => segmentId);
    const subject = { ...subjectFromProfile(profile, activity.get(key)), segmentIds };
    return matchingSegments(subject, definitions.get(projectId)?.dynamic ?? [], time).map(
      ({ id: segmentId }) => ({ projectId, segmentId, customerId: profile.id }),
    );
  });
}

const segmentKey = ({ projectId, id }: Pick<FollowedSegment, "projectId" | "id">): string =>
  keyOf(projectId, id);
