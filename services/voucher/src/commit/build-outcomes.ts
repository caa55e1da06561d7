import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type CommitOutcome,
  CommitOutcomeSchema,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { replay } from "../batch/replay.ts";
import { type CommandDecision, type CommandVerdict, isAnswer } from "../domain/commit.ts";
import type { Addition } from "../domain/counts.ts";
import type { VoucherUsage } from "../domain/usage.ts";
import type { VoucherTemplate } from "../mapping/voucher.ts";
import type {
  LedgerEntry,
  NewStoredResponse,
  NewEvent,
  NewRedemption,
} from "../store/commit-statement.ts";
import type { StoredAnswer } from "../store/idempotency.ts";
import type { Claim } from "../store/points-claims.ts";
import { renderMade } from "./build-redemptions.ts";
import {
  errorOf,
  goneBy,
  heldBy,
  recordFailure,
  refusalOfPart,
  refusedBy,
  staleWithout,
} from "./build-rejections.ts";
import type { Command } from "./parse-command.ts";
import type { Writes } from "./write.ts";

export type CommitContext = {
  readonly templates: { byId(projectId: string, voucherId: string): VoucherTemplate | undefined };
  readonly answers: ReadonlyMap<string, StoredAnswer>;
  readonly newId: (prefix: "r" | "rf" | "event") => string;
};

export type RenderedCommits = {
  /** One for each command, in their order. */
  readonly outcomes: readonly CommitOutcome[];
  readonly writes: Writes;
};

/** What is written, as far as the commands were rendered. */
export type Draft = {
  readonly usages: Map<string, VoucherUsage>;
  readonly redemptions: NewRedemption[];
  readonly ledgerEntries: LedgerEntry[];
  readonly events: NewEvent[];
  readonly responses: NewStoredResponse[];
  readonly additions: Addition[];
  readonly claims: Claim[];
  readonly sessions: { readonly projectId: string; readonly sessionKey: string }[];
};

export type RenderParts = { readonly draft: Draft; readonly context: CommitContext };

/** Turns decisions into what is answered and what is written, part by part: orders may be large. */
export function* renderCommits(
  commands: readonly Command[],
  decisions: readonly CommandDecision[],
  context: CommitContext,
): Generator<void, RenderedCommits> {
  const draft: Draft = {
    usages: new Map(),
    redemptions: [],
    ledgerEntries: [],
    events: [],
    responses: [],
    additions: [],
    claims: [],
    sessions: [],
  };
  const outcomes: CommitOutcome[] = [];
  for (const [position, command] of commands.entries()) {
    const decision = decisions[position];
    if (decision === undefined) throw new Error("a command was not decided");
    if (decision.kind === "replayed") {
      const { answers } = context;
      outcomes.push(replay(command, decision.position, { outcomes, answers, read: readAnswer }));
      continue;
    }
    if (outcomes.length > 0) yield;
    const parts = { draft, context };
    const outcome =
      decision.kind === "made"
        ? yield* renderMade(command, decision.usages, parts)
        : renderOther(command, decision, parts);
    outcomes.push(outcome);
    const keeps = isAnswer(decision) && decision.kind !== "key_reused";
    if (keeps && command.idempotency !== null) {
      draft.responses.push({
        projectId: command.projectId,
        ...command.idempotency,
        kind: "redemption",
        outcome: toBinary(CommitOutcomeSchema, outcome),
      });
    }
  }
  const usages = [...draft.usages.values()];
  return { outcomes, writes: { ...draft, usages } };
}

/** The stored answer, marked as a repeat. */
export const readAnswer = (answer: StoredAnswer): CommitOutcome => ({
  ...fromBinary(CommitOutcomeSchema, answer.outcome),
  replayed: true,
});

function renderOther(
  command: Command,
  decision: Exclude<CommandVerdict, { readonly kind: "made" }> | { readonly kind: "key_reused" },
  parts: RenderParts,
): CommitOutcome {
  const { requestId } = command.message;
  switch (decision.kind) {
    case "stale":
      return staleWithout(command, decision.lost, parts);
    case "held":
      return heldBy(command, decision.part, parts);
    case "gone":
      return goneBy(command, decision.part, parts);
    case "key_reused":
      return refusedBy(errorOf("idempotency_key_reused", requestId, undefined));
    case "refused":
    case "guarded": {
      const error = refusalOfPart(command, decision, parts);
      return recordFailure(command, decision.part, { error, parts });
    }
    case "recorded": {
      const error = command.message.rejection;
      if (error === undefined) throw new Error("a refusal without its error");
      return recordFailure(command, 0, { error, parts });
    }
    default:
      return decision satisfies never;
  }
}
