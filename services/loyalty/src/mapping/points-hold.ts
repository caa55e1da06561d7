import type {
  HoldPointsCommand as HoldPointsCommandMessage,
  HoldPointsOutcome,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";

import type { HoldPointsCommand, HoldPointsDecision } from "../domain/hold-points.ts";
import { cardBalancesToProto } from "./card.ts";
import { projectTimeFromProto } from "./project-time.ts";

export const holdPointsCommandFromProto = (
  message: HoldPointsCommandMessage,
): HoldPointsCommand => ({
  projectId: message.projectId,
  now: projectTimeFromProto(message),
  requestKey: message.requestKey ?? null,
  sessionKey: message.sessionKey ?? null,
  parts: message.parts,
});

export function holdPointsOutcomeToProto(decision: HoldPointsDecision): HoldPointsOutcome {
  return {
    $typeName: "scrip.loyalty.v1.HoldPointsOutcome",
    outcome:
      decision.kind === "held"
        ? {
            case: "held",
            value: {
              $typeName: "scrip.loyalty.v1.HeldPoints",
              holds: decision.holds.map(({ hold, card }) => ({
                $typeName: "scrip.loyalty.v1.PointsHold" as const,
                id: hold.id,
                balances: cardBalancesToProto(card),
              })),
            },
          }
        : {
            case: "rejected",
            value: {
              $typeName: "scrip.loyalty.v1.PointsHoldRejection",
              part: decision.part,
              key: decision.key,
            },
          },
  };
}
