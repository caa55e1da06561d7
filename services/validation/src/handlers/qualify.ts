import { invalidPayload } from "@scrip/errors";
import type {
  QualificationService,
  QualifyRequest,
} from "@scrip/proto/scrip/validation/v1/qualifications_pb";
import { type Call, type Handlers, runInterleaved, timeContextOf } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { candidateFilter } from "../domain/qualification/candidate.ts";
import { parsePageCursor } from "../domain/qualification/page-cursor.ts";
import {
  type QualificationScenario,
  type ScenarioName,
  SCENARIOS,
} from "../domain/qualification/qualification-scenario.ts";
import type { SortingRule } from "../domain/qualification/ranking.ts";
import { openCandidateSource } from "../loading/candidates.ts";
import { loadQualificationContext } from "../loading/qualification-context.ts";
import { loadAssignments } from "../loading/rule-assignments.ts";
import { type DecisionInput, expandOf } from "../mapping/decision-input.ts";
import { qualificationsToProto } from "../mapping/qualifications.ts";
import { assignedObjectIds } from "../mapping/qualified-rules.ts";
import { listQualifications } from "../qualification/list-qualifications.ts";

export const qualify =
  (deps: Deps): Handlers<typeof QualificationService>["qualify"] =>
  async (sent, call) => {
    const question = parse(sent, call);
    const { input, scenario, filters } = question;

    const { requestContext, tracking, settings } = await loadQualificationContext(deps, call, {
      input,
      scenario,
    });
    const source = await openCandidateSource(deps, call, {
      candidates: scenario.candidates,
      filters,
      holderId: requestContext.customer?.id,
      sessionKey: input.session?.key,
    });
    const found = await listQualifications(deps, call, { ...question, requestContext, source });
    const assignments = expandOf(input).has("validation_rules")
      ? await loadAssignments(deps.ruleCaches, call.project.id, [
          ...new Set(found.page.flatMap(assignedObjectIds)),
        ])
      : null;
    const shown = { requestContext, tracking, settings, limit: question.limit };
    return runInterleaved(qualificationsToProto(call, found, { ...shown, assignments }), call);
  };

const DEFAULT_LIMIT = 5n;

function parse(sent: QualifyRequest, call: Call) {
  const { options, scenario: name = "ALL", ...others } = sent;
  const { startingAfter, sortingRule = "DEFAULT", filters = {}, expand = [] } = options ?? {};
  const predicate = candidateFilter(filters, call.project);
  if (predicate.kind === "violation") throw invalidPayload(predicate.text);
  const after = startingAfter === undefined ? null : parsePageCursor(startingAfter);
  if (startingAfter !== undefined && after === null) {
    throw invalidPayload("Property .options.starting_after must be an ISO 8601 date-time");
  }
  const time = timeContextOf(call);
  const input: DecisionInput = {
    ...others,
    redeemables: [],
    options: { $typeName: "scrip.validation.v1.RequestOptions", expand },
  };
  return {
    input,
    scenario: SCENARIOS[name as ScenarioName] satisfies QualificationScenario,
    filters,
    matches: (candidate: Parameters<typeof predicate.matches>[0]) =>
      predicate.matches(candidate, time),
    sorting: sortingRule as SortingRule,
    after,
    limit: Number(options?.limit ?? DEFAULT_LIMIT),
  };
}
