import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";
import {
  type RollbackOutcome,
  RollbackOutcomeSchema,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { replay } from "../batch/replay.ts";
import { errorOf } from "../commit/build-rejections.ts";
import type { Addition } from "../domain/counts.ts";
import { isAnswer, type RollbackDecision } from "../domain/rollback.ts";
import type { VoucherUsage } from "../domain/usage.ts";
import type { CardBalances } from "../mapping/points.ts";
import type { VoucherTemplate } from "../mapping/voucher.ts";
import type { LedgerEntry, NewStoredResponse, NewEvent } from "../store/commit-statement.ts";
import type { StoredAnswer } from "../store/idempotency.ts";
import type { StoredRedemption } from "../store/redemptions.ts";
import type { NewRollback, RolledBack } from "../store/rollbacks.ts";
import { renderMade } from "./build-rollbacks.ts";
import type { Command } from "./parse-command.ts";
import { recordRefusal } from "./record-rejection.ts";

export type RollbackContext = {
  readonly templates: { byId(projectId: string, voucherId: string): VoucherTemplate | undefined };
  readonly answers: ReadonlyMap<string, StoredAnswer>;
  /** As they were before, by `rowKey` of project and id. */
  readonly stored: ReadonlyMap<string, StoredRedemption>;
  /** What loyalty cards have, by `rowKey` of project and voucher; kept as the rollbacks leave it. */
  readonly cards: Map<string, CardBalances>;
  readonly newId: (prefix: "rr" | "rrf" | "event") => string;
};

export type RollbackWrites = {
  readonly usages: readonly VoucherUsage[];
  readonly ledgerEntries: readonly LedgerEntry[];
  readonly events: readonly NewEvent[];
  readonly responses: readonly NewStoredResponse[];
  readonly rollbacks: readonly NewRollback[];
  readonly rolledBack: readonly RolledBack[];
  /** What the redemptions had added to the totals of campaigns and tiers. */
  readonly additions: readonly Addition[];
};

/** What is written, as far as the commands were rendered. */
export type RollbackDraft = {
  readonly usages: Map<string, VoucherUsage>;
  readonly ledgerEntries: LedgerEntry[];
  readonly events: NewEvent[];
  readonly responses: NewStoredResponse[];
  readonly rollbacks: NewRollback[];
  readonly rolledBack: RolledBack[];
  readonly additions: Addition[];
};

export type RollbackParts = { readonly draft: RollbackDraft; readonly context: RollbackContext };

/** Turns decisions into what is answered and what is written. */
export function renderRollbacks(
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
    additions: [],
  };
  const outcomes: RollbackOutcome[] = [];
  for (const [position, command] of commands.entries()) {
    const decision = decisions[position];
    if (decision === undefined) throw new Error("a command was not decided");
    if (decision.kind === "replayed") {
      const { answers } = context;
      outcomes.push(replay(command, decision.position, { outcomes, answers, read: readAnswer }));
      continue;
    }
    const outcome = renderDecision(command, decision, { draft, context });
    outcomes.push(outcome);
    const keeps = isAnswer(decision) && decision.kind !== "key_reused";
    if (keeps && command.idempotency !== null) {
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

const readAnswer = (answer: StoredAnswer): RollbackOutcome =>
  fromBinary(RollbackOutcomeSchema, answer.outcome);

function renderDecision(
  command: Command,
  decision: Exclude<RollbackDecision, { kind: "replayed" }>,
  parts: RollbackParts,
): RollbackOutcome {
  const { redemptionId, message } = command;
  const { requestId } = message;
  switch (decision.kind) {
    case "made":
      return outcomeOf({ case: "committed", value: renderMade(command, decision, parts) });
    case "held": {
      const details = `What redemption ${redemptionId} took from is held by something else; try again`;
      return refusedBy(errorOf("service_unavailable", requestId, details));
    }
    case "gone":
      return refusedBy({
        ...errorOf("not_found", requestId, `Cannot find redemption with id ${redemptionId}`),
        resourceId: redemptionId,
        resourceType: "redemption",
      });
    case "key_reused":
      return refusedBy(errorOf("idempotency_key_reused", requestId, undefined));
    case "refused": {
      const error = errorOf(decision.key, requestId, decision.details);
      if (decision.recorded === null) return refusedBy(error);
      const id = recordRefusal(command, decision.recorded, { error, parts });
      return refusedBy({ ...error, resourceId: id, resourceType: "redemption_rollback" });
    }
    default:
      return decision satisfies never;
  }
}

export const refusedBy = (error: ErrorMessage): RollbackOutcome =>
  outcomeOf({ case: "rejected", value: error });

const outcomeOf = (outcome: RollbackOutcome["outcome"]): RollbackOutcome => ({
  $typeName: "scrip.voucher.v1.RollbackOutcome",
  outcome,
  replayed: false,
});
