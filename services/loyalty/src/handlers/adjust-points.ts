import { create } from "@bufbuild/protobuf";
import {
  type AdjustPointsRequest,
  AdjustPointsResponseSchema,
  type CardService,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { availablePoints } from "../domain/card.ts";
import { expiryDate } from "../domain/expiry-date.ts";
import { localDateAt, type LocalDate } from "../domain/local-date.ts";
import { cardReferenceFromProto } from "../mapping/card-reference.ts";
import { findProgram } from "../points/find-program.ts";
import { movePoints } from "../points/move-points.ts";

export const adjustPoints =
  (deps: Deps): Handler<typeof CardService.method.adjustPoints> =>
  async (request, call) => {
    const { operationId, points, sourceId = null, reason = null } = request;
    const card = cardReferenceFromProto(request.card);
    const today = localDateAt(call.project.timeZone, call.now);
    const expiresOn = points < 0n ? null : await dateOf(deps, request, today);
    if (expiresOn !== null && expiresOn < today) {
      return rejected({ key: "invalid_expiration_date", limit: 0n });
    }
    const change = {
      card,
      cause: `adjust:${operationId}`,
      at: call.now,
      expiredBefore: today,
      sourceId,
      reason,
      origin: call,
    };
    const [decision] = await deps.db.transaction((tx) =>
      movePoints(tx, deps, [
        points < 0n
          ? { ...change, type: "POINTS_REMOVAL", points: -points }
          : { ...change, type: "POINTS_ADDITION", points, expiresOn },
      ]),
    );
    deps.onEvents();
    if (decision === undefined) throw new Error("each movement has a decision");
    if (decision.kind === "rejected") return rejected(decision);
    const { id: transactionId, totalAfter: total, balanceAfter } = decision.entry;
    // The entry counts points as long as they are only held; a card does not.
    const balance = decision.kind === "moved" ? availablePoints(decision.card) : balanceAfter;
    const value = { transactionId, total, balance };
    return create(AdjustPointsResponseSchema, { outcome: { case: "moved", value } });
  };

async function dateOf(
  deps: Deps,
  { card, expirationType, expirationDate }: AdjustPointsRequest,
  today: LocalDate,
): Promise<LocalDate | null> {
  if (expirationType === "NON_EXPIRING") return null;
  if (expirationType === "CUSTOM_DATE") return expirationDate ?? null;
  const program = await findProgram(deps, card?.projectId ?? "", card?.campaignId);
  return expiryDate(program?.expirationRules ?? null, today);
}

const rejected = ({ key, limit }: { readonly key: string; readonly limit: bigint }) =>
  create(AdjustPointsResponseSchema, { outcome: { case: "rejected", value: { key, limit } } });
