import type { QualifiedRules } from "@scrip/proto/scrip/validation/v1/qualifications_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { campaignOf, rulesOf, subjectOf } from "../domain/input/subject.ts";
import { omittedIn } from "../domain/qualification/qualification-scenario.ts";
import { loadAssignments } from "../loading/rule-assignments.ts";
import { assignmentToProto } from "./assignment.ts";
import type { EvaluatedCandidate } from "./evaluated-candidate.ts";
import { audienceOf } from "./explanation.ts";

/** How many assignments of one redeemable an answer shows; the total counts them all. */
const SHOWN = 100;

/** Which rules each has, its campaign's too, and whether all of them were looked at. */
export async function qualifiedRules(
  { ruleCaches }: Pick<Deps, "ruleCaches">,
  call: Call,
  page: readonly EvaluatedCandidate[],
): Promise<readonly QualifiedRules[]> {
  const objectIds = page.map(objectIdsOf);
  const found = await loadAssignments(ruleCaches, call.project.id, [...new Set(objectIds.flat())]);
  return page.map((one, position): QualifiedRules => {
    const rows = (objectIds[position] ?? []).flatMap((id) => found.get(id) ?? []);
    const omitted = omittedNames(one);
    return {
      $typeName: "scrip.validation.v1.QualifiedRules",
      total: BigInt(rows.length),
      data: rows.slice(0, SHOWN).map((row) => {
        const { $typeName: _, ...assignment } = assignmentToProto(row);
        const names = omitted.get(row.rule_id) ?? [];
        return {
          $typeName: "scrip.validation.v1.QualifiedRule",
          ...assignment,
          validationStatus: names.length === 0 ? "VALID" : "PARTIALLY_VALID",
          validationOmittedRules: audienceOf(call) === "client" ? [] : [...names],
        };
      }),
    };
  });
}

const subjectsOf = ({ judged }: EvaluatedCandidate) =>
  judged.flatMap(({ redeemable }) => subjectOf(redeemable) ?? []);

const objectIdsOf = (one: EvaluatedCandidate): readonly string[] => [
  ...new Set(
    subjectsOf(one).flatMap((subject) => [subject.facts.id, campaignOf(subject)?.id ?? []].flat()),
  ),
];

/** By the id of the rule. */
const omittedNames = (one: EvaluatedCandidate): ReadonlyMap<string, readonly string[]> => {
  const { omits } = one.gathered;
  return omits === undefined
    ? new Map()
    : new Map(
        subjectsOf(one)
          .flatMap(rulesOf)
          .map((rule) => [rule.id, omittedIn(rule, omits)]),
      );
};
