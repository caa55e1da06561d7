import { create } from "@bufbuild/protobuf";
import {
  type CardService,
  type TransferCard,
  type TransferPointsRequest,
  type TransferPointsResponse,
  TransferPointsResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { availablePoints, type Card, type CardReference } from "../domain/card.ts";
import { expiryDate } from "../domain/expiry-date.ts";
import { localDateAt, type LocalDate } from "../domain/local-date.ts";
import type { MovementRejection } from "../domain/move-points.ts";
import { cardReferenceFromProto } from "../mapping/card-reference.ts";
import { findProgram } from "../points/find-program.ts";
import { type CausedMovement, movePoints } from "../points/move-points.ts";

/** Thrown to roll the transaction back: all transfers are made, or none. */
class TransferRejected extends Error {
  readonly response: TransferPointsResponse;
  constructor(key: MovementRejection, limit: bigint, part: number) {
    super(`transfer rejected: ${key}`);
    this.response = create(TransferPointsResponseSchema, { rejected: { key, limit, part } });
  }
}

export const transferPoints =
  (deps: Deps): Handler<typeof CardService.method.transferPoints> =>
  async (request, call) => {
    const destination = cardReferenceFromProto(request.destination);
    const today = localDateAt(call.project.timeZone, call.now);
    const program = await findProgram(
      deps,
      destination.projectId,
      destination.campaignId ?? undefined,
    );
    const expiresOn = expiryDate(program?.expirationRules ?? null, today);
    const movements = movementsOf(request, { destination, call, today, expiresOn });
    try {
      await deps.db.transaction(async (tx) => {
        const decisions = await movePoints(tx, deps, movements);
        for (const [index, decision] of decisions.entries()) {
          if (decision.kind !== "rejected") continue;
          throw new TransferRejected(decision.key, decision.limit, Math.floor(index / 2));
        }
      });
    } catch (error) {
      if (error instanceof TransferRejected) return error.response;
      throw error;
    }
    deps.onEvents();
    return create(TransferPointsResponseSchema, {});
  };

/** Two movements for each transfer, which name each other: out of the source, and into the destination. */
function movementsOf(
  { transfers, operationId, destinationCard }: TransferPointsRequest,
  {
    destination,
    call,
    today,
    expiresOn,
  }: {
    readonly destination: CardReference;
    readonly call: Call;
    readonly today: LocalDate;
    readonly expiresOn: LocalDate | null;
  },
): readonly CausedMovement[] {
  return transfers.flatMap((transfer, index): readonly CausedMovement[] => {
    const source = cardReferenceFromProto(transfer.source);
    const { points, sourceId = null, reason = null } = transfer;
    const shared = { points, at: call.now, expiredBefore: today, sourceId, reason, origin: call };
    const cause = `transfer:${operationId}:${index}`;
    return [
      {
        ...shared,
        card: source,
        type: "POINTS_TRANSFER_OUT",
        cause: `${cause}:out`,
        linkedTo: 2 * index + 1,
        details: (cardAfter) =>
          detailsOf("destination_voucher", cardAfter(destination), destinationCard),
      },
      {
        ...shared,
        card: destination,
        type: "POINTS_TRANSFER_IN",
        cause: `${cause}:in`,
        linkedTo: 2 * index,
        expiresOn,
        details: (cardAfter) => detailsOf("source_voucher", cardAfter(source), transfer.sourceCard),
      },
    ];
  });
}

/** The other card as the transaction shows it, in the form of the API. */
const detailsOf = (name: string, card: Card, shown: TransferCard | undefined): string =>
  JSON.stringify({
    [name]: {
      id: card.id,
      code: shown?.code ?? null,
      type: "LOYALTY_CARD",
      campaign: shown?.campaign ?? null,
      campaign_id: card.campaignId,
      loyalty_card: {
        points: Number(card.points),
        balance: Number(availablePoints(card)),
        ...(card.nextExpiresOn !== null && {
          next_expiration_date: card.nextExpiresOn,
          next_expiration_points: Number(card.nextExpiringPoints),
        }),
      },
      is_referral_code: false,
    },
  });
