import type { TimeContext } from "@scrip/filters";

import type { Deps } from "../deps.ts";
import { customerChangeOf, type CustomerInput } from "../domain/customer.ts";
import {
  UNKNOWN_CUSTOMER,
  withInput,
  matchingSegments,
  type SegmentSubject,
  subjectFromProfile,
} from "../domain/segment.ts";
import type { ProjectSegments } from "../loading/segment-definitions.ts";
import { findProfiles } from "../store/customer-profiles.ts";
import { findMemberships } from "../store/segments.ts";

export type SegmentQuery = {
  readonly projectId: string;
  /** Null for somebody who is not stored. */
  readonly customerId: string | null;
  /** What a request says about the customer; it counts as if it were stored. */
  readonly input: CustomerInput | undefined;
  readonly moment: TimeContext;
};

export type NamedSegment = { readonly id: string; readonly name: string };

/**
 * The segments that each of the customers is in, ascending by id. Two statements for all of them, and
 * none for projects without segments.
 */
export async function evaluateSegments(
  deps: Deps,
  questions: readonly SegmentQuery[],
): Promise<readonly (readonly NamedSegment[])[]> {
  const projects = await loadDefinitions(deps, questions);
  const storedWhere = (needs: (project: ProjectSegments) => boolean) =>
    questions.flatMap(({ projectId, customerId: id }) => {
      const project = projects.get(projectId);
      return id !== null && project !== undefined && needs(project) ? [{ projectId, id }] : [];
    });
  const [profiles, memberships] = await Promise.all([
    findProfiles(
      deps.db,
      storedWhere(({ dynamic }) => dynamic.length > 0),
    ),
    findMemberships(
      deps.db,
      storedWhere(({ hasStatic }) => hasStatic),
    ),
  ]);
  const subjects = new Map(
    profiles.map(({ projectId, profile }) => [
      keyOf(projectId, profile.id),
      subjectFromProfile(profile),
    ]),
  );
  const lists = Map.groupBy(memberships, ({ projectId, customerId }) =>
    keyOf(projectId, customerId),
  );
  return questions.map((question) => {
    const { projectId, customerId, moment } = question;
    const key = keyOf(projectId, customerId ?? "");
    const listed = (lists.get(key) ?? []).map(({ segmentId: id, name }) => ({ id, name }));
    const subject = withRequestInput(subjects.get(key) ?? UNKNOWN_CUSTOMER, question.input);
    const dynamic = matchingSegments(subject, projects.get(projectId)?.dynamic ?? [], moment);
    return [...listed, ...dynamic.map(({ id, name }) => ({ id, name }))].toSorted((a, b) =>
      a.id < b.id ? -1 : 1,
    );
  });
}

const keyOf = (projectId: string, customerId: string): string =>
  JSON.stringify([projectId, customerId]);

const withRequestInput = (
  subject: SegmentSubject,
  said: CustomerInput | undefined,
): SegmentSubject =>
  said === undefined
    ? subject
    : withInput(subject, { ...customerChangeOf(said), sourceId: said.sourceId ?? null });

async function loadDefinitions(
  deps: Deps,
  questions: readonly SegmentQuery[],
): Promise<ReadonlyMap<string, ProjectSegments>> {
  const ids = [...new Set(questions.map(({ projectId }) => projectId))];
  const projects = await Promise.all(ids.map((id) => deps.segmentDefinitions(id)));
  return new Map(ids.map((id, index) => [id, projects[index] as ProjectSegments]));
}
