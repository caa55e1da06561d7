import type { TimeContext } from "@scrip/filters";

import type { Deps } from "../deps.ts";
import { changeOf, type CustomerInput } from "../domain/customer.ts";
import { NOBODY, saidOf, segmentsOf, type Subject, subjectOf } from "../domain/segment.ts";
import type { ProjectSegments } from "../loading/segment-definitions.ts";
import { findProfilesOf } from "../store/customer-profiles.ts";
import { findMemberships } from "../store/segments.ts";

export type SegmentQuestion = {
  readonly projectId: string;
  /** Null for somebody who is not stored. */
  readonly customerId: string | null;
  /** What a request says about the customer; it counts as if it were stored. */
  readonly said: CustomerInput | undefined;
  readonly moment: TimeContext;
};

export type NamedSegment = { readonly id: string; readonly name: string };

/**
 * The segments that each of the customers is in, ascending by id. Two statements for all of them, and
 * none for projects without segments.
 */
export async function segmentsOfCustomers(
  deps: Deps,
  questions: readonly SegmentQuestion[],
): Promise<readonly (readonly NamedSegment[])[]> {
  const projects = await definitionsOf(deps, questions);
  const storedWhere = (needs: (project: ProjectSegments) => boolean) =>
    questions.flatMap(({ projectId, customerId: id }) => {
      const project = projects.get(projectId);
      return id !== null && project !== undefined && needs(project) ? [{ projectId, id }] : [];
    });
  const [profiles, memberships] = await Promise.all([
    findProfilesOf(
      deps.db,
      storedWhere(({ dynamic }) => dynamic.length > 0),
    ),
    findMemberships(
      deps.db,
      storedWhere(({ hasStatic }) => hasStatic),
    ),
  ]);
  const subjects = new Map(
    profiles.map(({ projectId, profile }) => [keyOf(projectId, profile.id), subjectOf(profile)]),
  );
  const lists = Map.groupBy(memberships, ({ projectId, customerId }) =>
    keyOf(projectId, customerId),
  );
  return questions.map((question) => {
    const { projectId, customerId, moment } = question;
    const key = keyOf(projectId, customerId ?? "");
    const listed = (lists.get(key) ?? []).map(({ segmentId: id, name }) => ({ id, name }));
    const subject = withSaid(subjects.get(key) ?? NOBODY, question.said);
    const dynamic = segmentsOf(subject, projects.get(projectId)?.dynamic ?? [], moment);
    return [...listed, ...dynamic.map(({ id, name }) => ({ id, name }))].toSorted((a, b) =>
      a.id < b.id ? -1 : 1,
    );
  });
}

const keyOf = (projectId: string, customerId: string): string =>
  JSON.stringify([projectId, customerId]);

const withSaid = (subject: Subject, said: CustomerInput | undefined): Subject =>
  said === undefined
    ? subject
    : saidOf(subject, { ...changeOf(said), sourceId: said.sourceId ?? null });

async function definitionsOf(
  deps: Deps,
  questions: readonly SegmentQuestion[],
): Promise<ReadonlyMap<string, ProjectSegments>> {
  const ids = [...new Set(questions.map(({ projectId }) => projectId))];
  const projects = await Promise.all(ids.map((id) => deps.segmentsOf(id)));
  return new Map(ids.map((id, index) => [id, projects[index] as ProjectSegments]));
}
