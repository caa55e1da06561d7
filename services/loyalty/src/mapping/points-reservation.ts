import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type {
  PointsReservationCommand,
  PointsReservationOutcome,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";

import type { ReservePointsCommand, ReservePointsDecision } from "../domain/reserve-points.ts";
import { projectTimeFromProto } from "./project-time.ts";

export const reservePointsCommandFromProto = (
  message: PointsReservationCommand,
): ReservePointsCommand => ({
  projectId: message.projectId,
  sessionKey: message.sessionKey,
  now: projectTimeFromProto(message),
  reservations: message.reservations.map(({ cardId, points, expiresAt }) => ({
    cardId,
    points,
    expiresAt: expiresAt === undefined ? 0 : timestampMs(expiresAt),
  })),
});

export const reservePointsOutcomeToProto = ({
  reserved,
  previous,
}: ReservePointsDecision): PointsReservationOutcome => ({
  $typeName: "scrip.loyalty.v1.PointsReservationOutcome",
  reserved,
  previous: previous.map(({ cardId, points, expiresAt }) => ({
    $typeName: "scrip.loyalty.v1.PointsReservation",
    cardId,
    // Unused: a card with a lock is open.
    initialPoints: 0n,
    points,
    expiresAt: timestampFromMs(expiresAt),
  })),
});
