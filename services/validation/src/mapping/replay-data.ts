import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { ValidationRulesAssignmentList } from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";
import { type ReplayData, ReplayDataSchema } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Call } from "@scrip/rpc";

import type { EvaluatedRedeemable } from "../domain/decision/decision.ts";
import type { DecisionContext } from "./decision-context.ts";
import { expandOf } from "./decision-input.ts";
import { explanationToProto, audienceOf } from "./explanation.ts";
import { redeemableResultToProto } from "./redeemable-result.ts";

/** The parts of the response that only the decision contains. Empty for most redemptions. */
export function buildReplayData(
  evaluated: readonly EvaluatedRedeemable[],
  {
    context,
    assignments,
  }: {
    readonly context: DecisionContext;
    readonly assignments: readonly ValidationRulesAssignmentList[];
  },
  call: Call,
): ReplayData {
  const left = evaluated.filter(({ status }) => status !== "APPLICABLE");
  const explains = expandOf(context.input).has("explanation");
  if (left.length === 0 && !explains && assignments.length === 0) {
    return EMPTY_REPLAY_DATA;
  }
  const results = left.map((each) => redeemableResultToProto(each, context, call));
  const audience = audienceOf(call);
  return create(ReplayDataSchema, {
    inapplicableRedeemables: results.filter(({ status }) => status === "INAPPLICABLE"),
    skippedRedeemables: results.filter(({ status }) => status === "SKIPPED"),
    explanations: explains
      ? evaluated.flatMap((each) =>
          each.status === "APPLICABLE" ? (explanationToProto(each, audience) ?? []) : [],
        )
      : [],
    assignments: [...assignments],
  });
}

const NO_BYTES = new Uint8Array();

/**
 * Stored with the redemption, so that a replay returns the same response. Empty if the request
 * cannot be replayed.
 */
export const replayDataToBytes = (replayData: ReplayData, { idempotency }: Call): Uint8Array =>
  idempotency === undefined || replayData === EMPTY_REPLAY_DATA
    ? NO_BYTES
    : toBinary(ReplayDataSchema, replayData);

export const replayDataFromBytes = (replayData: Uint8Array): ReplayData =>
  replayData.length === 0 ? EMPTY_REPLAY_DATA : fromBinary(ReplayDataSchema, replayData);

/** Read-only and therefore shared. */
const EMPTY_REPLAY_DATA = create(ReplayDataSchema);
