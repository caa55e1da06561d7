import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";
import {
  type RollbackOutcome,
  RollbackOutcomeSchema,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { replay } from "../batch/replay.ts";
import { buildError } from "../commit/build-rejections.ts";
import { isFinal, type RollbackDecision } from "../domain/decide-rollbacks.ts";
import type { StoredResponse } from "../store/idempotency.ts";
import { buildRollbacks } from "./build-rollbacks.ts";
import type { RollbackBuild, RollbackContext, RollbackDraft, RollbackWrites } from "./draft.ts";
import type { Command } from "./parse-command.ts";
import { recordRejection } from "./record-rejection.ts";

/** Builds the responses and the writes of decided commands. */
export function buildRollbackOutcomes(
  commands: readonly Command[],
  decisions: readonly RollbackDecision[],
  context: RollbackContext,
): { readonly outcomes: readonly RollbackOutcome[]; readonly writes: RollbackWrites } {
  const draft: RollbackDraft = {
    usages: new Map(),
    ledgerEntries: [],
    events: [],
    responses: [],
    rollbacks: [],
    rolledBack: [],
    decrements: [],
  };
  const outcomes: RollbackOutcome[] = [];
  for (const [position, command] of commands.entries()) {
    const decision = decisions[position];
    if (decision === undefined) throw new Error("a command was not decided");
    if (decision.kind === "replayed") {
      const { storedResponses } = context;
      outcomes.push(
        replay(command, decision.position, { outcomes, storedResponses, read: outcomeFromStored }),
      );
      continue;
    }
    const outcome = buildOutcome(command, decision, { draft, context });
    outcomes.push(outcome);
    const isStored = isFinal(decision) && decision.kind !== "key_reused";
    if (isStored && command.idempotency !== null) {
      draft.responses.push({
        projectId: command.projectId,
        ...command.idempotency,
        kind: "rollback",
        outcome: toBinary(RollbackOutcomeSchema, outcome),
      });
    }
  }
  return { outcomes, writes: { ...draft, usages: [...draft.usages.values()] } };
}

const outcomeFromStored = (stored: StoredResponse): RollbackOutcome =>
  fromBinary(RollbackOutcomeSchema, stored.outcome);

function buildOutcome(
  command: Command,
  decision: Exclude<RollbackDecision, { kind: "replayed" }>,
  build: RollbackBuild,
): RollbackOutcome {
  const { redemptionId, message } = command;
  const { requestId } = message;
  switch (decision.kind) {
    case "committed":
      return rollbackOutcome({
        case: "committed",
        value: buildRollbacks(command, decision, build),
      });
    case "locked": {
      const details = `The voucher of redemption ${redemptionId} is locked by another request; try again`;
      return rejectedOutcome(buildError("service_unavailable", requestId, details));
    }
    case "not_found":
      return rejectedOutcome({
        ...buildError("not_found", requestId, `Cannot find redemption with id ${redemptionId}`),
        resourceId: redemptionId,
        resourceType: "redemption",
      });
    case "key_reused":
      return rejectedOutcome(buildError("idempotency_key_reused", requestId, undefined));
    case "rejected": {
      const error = buildError(decision.key, requestId, decision.details);
      if (decision.recorded === null) return rejectedOutcome(error);
      const id = recordRejection(command, decision.recorded, { error, build });
      return rejectedOutcome({ ...error, resourceId: id, resourceType: "redemption_rollback" });
    }
    default:
      return decision satisfies never;
  }
}

export const rejectedOutcome = (error: ErrorMessage): RollbackOutcome =>
  rollbackOutcome({ case: "rejected", value: error });

const rollbackOutcome = (outcome: RollbackOutcome["outcome"]): RollbackOutcome => ({
  $typeName: "scrip.voucher.v1.RollbackOutcome",
  outcome,
  replayed: false,
});
