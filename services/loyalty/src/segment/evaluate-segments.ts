import type { TimeContext } from "@scrip/filters";

import type { Deps } from "../deps.ts";
import { customerChangeOf, type CustomerInput } from "../domain/customer.ts";
import { keyOf } from "../domain/key.ts";
import {
  UNKNOWN_CUSTOMER,
  withInput,
  matchingSegments,
  type SegmentSubject,
  subjectFromProfile,
} from "../domain/segment-matching.ts";
import type { ProjectSegments } from "../loading/segment-definitions.ts";
import { findActivity } from "../store/customer-activity.ts";
import { findProfiles } from "../store/customer-profiles.ts";
import { findMemberships } from "../store/segments.ts";

export type SegmentQuery = {
  readonly projectId: string;
  /** Null for a customer who is not stored. */
  readonly customerId: string | null;
  /** Customer data of the request, which counts as if it were stored. */
  readonly input: CustomerInput | undefined;
  readonly time: TimeContext;
};

export type Memberships = {
  /** Ascending by id. */
  readonly segments: readonly { readonly id: string; readonly name: string }[];
  /** Ids of segments that cannot be read: whether the customer is in them is unknown. */
  readonly unreadable: readonly string[];
};

/**
 * Returns the segments of each customer (docs/customers.md#segments). Two statements for the whole batch, two more for
 * filters by points or events, and none for projects without segments.
 */
export async function evaluateSegments(
  deps: Deps,
  queries: readonly SegmentQuery[],
): Promise<readonly Memberships[]> {
  const projects = await loadDefinitions(deps, queries);
  const customers = queries.flatMap(({ projectId, customerId: id }) => {
    const project = projects.get(projectId);
    return id !== null && project !== undefined ? [{ projectId, id, ...project }] : [];
  });
  const [profiles, activity, memberships] = await Promise.all([
    findProfiles(
      deps.db,
      customers.filter(({ dynamic }) => dynamic.length > 0),
    ),
    findActivity(deps.db, customers),
    findMemberships(
      deps.db,
      customers.filter(({ hasStatic }) => hasStatic),
    ),
  ]);
  const subjects = new Map(
    profiles.map(({ projectId, profile }) => {
      const key = keyOf(projectId, profile.id);
      return [key, subjectFromProfile(profile, activity.get(key))];
    }),
  );
  const staticSegments = Map.groupBy(memberships, ({ projectId, customerId }) =>
    keyOf(projectId, customerId),
  );
  return queries.map((query) => {
    const { projectId, customerId, time } = query;
    const key = keyOf(projectId, customerId ?? "");
    const listed = (staticSegments.get(key) ?? []).map(({ segmentId: id, name }) => ({ id, name }));
    const stored = {
      ...(subjects.get(key) ?? UNKNOWN_CUSTOMER),
      segmentIds: listed.map(({ id }) => id),
    };
    const subject = withRequestInput(stored, query.input);
    const project = projects.get(projectId);
    const dynamic = matchingSegments(subject, project?.dynamic ?? [], time);
    const segments = [...listed, ...dynamic.map(({ id, name }) => ({ id, name }))];
    return {
      segments: segments.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      unreadable: project?.unreadable ?? [],
    };
  });
}

const withRequestInput = (
  subject: SegmentSubject,
  input: CustomerInput | undefined,
): SegmentSubject =>
  input === undefined
    ? subject
    : withInput(subject, { ...customerChangeOf(input), sourceId: input.sourceId ?? null });

async function loadDefinitions(
  deps: Deps,
  queries: readonly SegmentQuery[],
): Promise<ReadonlyMap<string, ProjectSegments>> {
  const ids = [...new Set(queries.map(({ projectId }) => projectId))];
  const projects = await Promise.all(ids.map((id) => deps.segmentDefinitions(id)));
  return new Map(ids.map((id, index) => [id, projects[index] as ProjectSegments]));
}
