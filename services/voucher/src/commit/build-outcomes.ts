import { fromBinary } from "@bufbuild/protobuf";
import {
  type CommitOutcome,
  CommitOutcomeSchema,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { replay } from "../batch/replay.ts";
import { type CommitDecision, isFinal, type NewCommitDecision } from "../domain/commit.ts";
import { storedOutcomeToBinary } from "../mapping/stored-outcome.ts";
import type { StoredResponse } from "../store/idempotency.ts";
import { buildRedemptions } from "./build-redemptions.ts";
import {
  buildError,
  deletedOutcome,
  lockedOutcome,
  recordFailedRedemption,
  partRejection,
  rejectedOutcome,
  staleOutcome,
} from "./build-rejections.ts";
import type { CommitBuild, CommitContext, CommitDraft } from "./draft.ts";
import type { Command } from "./parse-command.ts";
import type { CommitBatchWrites } from "./write.ts";

export type BuiltCommits = {
  /** One for each command, in their order. */
  readonly outcomes: readonly CommitOutcome[];
  readonly writes: CommitBatchWrites;
};

/** Builds the responses and the writes of decided commands, part by part: orders may be large. */
export function* buildCommitOutcomes(
  commands: readonly Command[],
  decisions: readonly CommitDecision[],
  context: CommitContext,
): Generator<void, BuiltCommits> {
  const draft: CommitDraft = {
    usages: new Map(),
    redemptions: [],
    ledgerEntries: [],
    events: [],
    responses: [],
    increments: [],
    claims: [],
    rewards: [],
    sessions: [],
  };
  const outcomes: CommitOutcome[] = [];
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
    if (outcomes.length > 0) yield;
    const build = { draft, context };
    const outcome =
      decision.kind === "committed"
        ? yield* buildRedemptions(command, decision.usages, build)
        : buildOtherOutcome(command, decision, build);
    outcomes.push(outcome);
    const isStored = isFinal(decision) && decision.kind !== "key_reused";
    if (isStored && command.idempotency !== null) {
      draft.responses.push({
        projectId: command.projectId,
        ...command.idempotency,
        kind: "redemption",
        outcome: storedOutcomeToBinary(outcome),
      });
    }
  }
  const usages = [...draft.usages.values()];
  return { outcomes, writes: { ...draft, usages } };
}

/** The stored response, marked as a replay. */
export const outcomeFromStored = (stored: StoredResponse): CommitOutcome => ({
  ...fromBinary(CommitOutcomeSchema, stored.outcome),
  replayed: true,
});

function buildOtherOutcome(
  command: Command,
  decision:
    | Exclude<NewCommitDecision, { readonly kind: "committed" }>
    | { readonly kind: "key_reused" },
  build: CommitBuild,
): CommitOutcome {
  const { requestId } = command.message;
  switch (decision.kind) {
    case "stale":
      return staleOutcome(command, decision.conflicts, build);
    case "locked":
      return lockedOutcome(command, decision.part, build);
    case "deleted":
      return deletedOutcome(command, decision.part, build);
    case "key_reused":
      return rejectedOutcome(buildError("idempotency_key_reused", requestId, undefined));
    case "rejected":
    case "guard_failed": {
      const error = partRejection(command, decision, build);
      return recordFailedRedemption(command, decision.part, { error, build });
    }
    case "record_rejection": {
      const error = command.message.rejection;
      if (error === undefined) throw new Error("the command has no rejection to record");
      return recordFailedRedemption(command, 0, { error, build });
    }
    default:
      return decision satisfies never;
  }
}
