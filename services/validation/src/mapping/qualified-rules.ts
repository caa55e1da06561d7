import type { QualifiedRules } from "@scrip/proto/scrip/validation/v1/qualifications_pb";

import { campaignOf, rulesOf, subjectOf } from "../domain/input/subject.ts";
import { ignoredParts } from "../domain/qualification/qualification-scenario.ts";
import type { AssignmentRow } from "../store/rule-assignments.ts";
import { assignmentToProto } from "./assignment.ts";
import type { EvaluatedCandidate } from "./evaluated-candidate.ts";
import type { Audience } from "./explanation.ts";

/** Maximum number of assignments listed for one redeemable; the total counts all of them. */
const MAX_DISPLAYED = 100;

/**
 * The rules that are assigned to a redeemable or to its campaign. `PARTIALLY_VALID` marks a rule with
 * conditions that the scenario skipped (docs/qualification.md#scenarios).
 */
export function qualifiedRulesToProto(
  evaluated: EvaluatedCandidate,
  assignments: ReadonlyMap<string, readonly AssignmentRow[]>,
  audience: Audience,
): QualifiedRules {
  const rows = assignedObjectIds(evaluated).flatMap((id) => assignments.get(id) ?? []);
  const omitted = omittedConditions(evaluated);
  return {
    $typeName: "scrip.validation.v1.QualifiedRules",
    total: BigInt(rows.length),
    data: rows.slice(0, MAX_DISPLAYED).map((row) => {
      const { $typeName: _, ...assignment } = assignmentToProto(row);
      const names = omitted.get(row.rule_id) ?? [];
      return {
        $typeName: "scrip.validation.v1.QualifiedRule",
        ...assignment,
        validationStatus: names.length === 0 ? "VALID" : "PARTIALLY_VALID",
        validationOmittedRules: audience === "client" ? [] : [...names],
      };
    }),
  };
}

/** Ids of the redeemables and of their campaigns. */
export const assignedObjectIds = (evaluated: EvaluatedCandidate): readonly string[] => [
  ...new Set(
    subjectsOf(evaluated).flatMap((subject) =>
      [subject.snapshot.id, campaignOf(subject)?.id ?? []].flat(),
    ),
  ),
];

const subjectsOf = ({ evaluated }: EvaluatedCandidate) =>
  evaluated.flatMap(({ redeemable }) => subjectOf(redeemable) ?? []);

/** Names of the skipped conditions, by the id of their rule. */
const omittedConditions = (
  evaluated: EvaluatedCandidate,
): ReadonlyMap<string, readonly string[]> => {
  const { omits } = evaluated.context;
  return omits === undefined
    ? new Map()
    : new Map(
        subjectsOf(evaluated)
          .flatMap(rulesOf)
          .map((rule) => [rule.id, ignoredParts(rule, omits)]),
      );
};
