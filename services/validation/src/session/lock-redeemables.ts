import { instantToProto } from "@scrip/mapping";
import type { PointsReservation } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Reservation, ReservationOutcome } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { type Call, serviceCall } from "@scrip/rpc";

import { runPostCommit } from "../commit/post-commit.ts";
import type { Deps } from "../deps.ts";
import type { ApplicableRedeemable } from "../domain/decision/decision.ts";
import type { DecisionContext } from "../mapping/decision-context.ts";
import { rejectWhileClaimed } from "./session-claim.ts";
import type { SessionLock } from "./session-lock.ts";

export type LockDeps = Pick<Deps, "db" | "onError"> & {
  readonly clients: Pick<Deps["clients"], "reservePoints" | "reserveVouchers" | "releasePoints">;
};

export type RedeemablesToLock = {
  readonly applicable: readonly Pick<ApplicableRedeemable, "redeemable" | "benefit">[];
  readonly context: Pick<DecisionContext, "cards">;
};

type LockContext = {
  readonly deps: LockDeps;
  readonly call: Call;
  readonly lock: SessionLock;
};

/**
 * Locks one use of each applicable voucher, its gift credits, and the points of loyalty cards
 * (docs/sessions.md#locks). Points are locked first and restored if the vouchers cannot be locked.
 * Returns whether the session holds all of it; if not, the request is decided again.
 */
export async function lockRedeemables(
  deps: LockDeps,
  call: Call,
  lock: SessionLock,
  { applicable, context }: RedeemablesToLock,
): Promise<boolean> {
  const sessionKey = lock.session.key;
  const reservations = applicable.flatMap(reservationOf);
  const objectIds = reservations.map(({ voucherId }) => voucherId);
  if (objectIds.length > 0) await rejectWhileClaimed(deps, call, { sessionKey, objectIds });
  const lockContext = { deps, call, lock };
  const points = applicable.flatMap((evaluated) => pointsOf(evaluated, context, lock));
  if (points.length === 0)
    return (await reserveVouchers(lockContext, reservations)).case === "reserved";
  const { reserved, previous } = await reservePoints(lockContext, points);
  if (!reserved) return false;
  let isReserved = false;
  try {
    isReserved = (await reserveVouchers(lockContext, reservations)).case === "reserved";
    return isReserved;
  } finally {
    // Restored after errors, too: otherwise a session whose key the caller never received would lock the points for
    // days.
    if (!isReserved) await restorePoints(lockContext, previous);
  }
}

function restorePoints(
  lockContext: LockContext,
  previous: readonly PointsReservation[],
): Promise<void> {
  const restore = async (): Promise<void> => {
    // A deadline of its own, because that of the request may have passed.
    const { deadline } = serviceCall();
    await reservePoints({ ...lockContext, call: { ...lockContext.call, deadline } }, previous);
  };
  return runPostCommit(lockContext.deps, "restoring the points of a session", restore());
}

const reservationOf = ({
  redeemable,
  benefit,
}: RedeemablesToLock["applicable"][number]): Reservation[] =>
  redeemable.object === "voucher" && redeemable.voucher !== null
    ? [
        {
          $typeName: "scrip.voucher.v1.Reservation",
          voucherId: redeemable.voucher.id,
          definitionVersion: redeemable.voucher.definitionVersion,
          credits: benefit.kind === "gift" ? benefit.credits : 0n,
        },
      ]
    : [];

function pointsOf(
  { redeemable, benefit }: RedeemablesToLock["applicable"][number],
  { cards }: RedeemablesToLock["context"],
  { expiresAt }: SessionLock,
): PointsReservation[] {
  if (benefit.kind !== "loyalty" || redeemable.object !== "voucher") return [];
  const cardId = redeemable.voucher?.id ?? "";
  return [
    {
      $typeName: "scrip.loyalty.v1.PointsReservation",
      cardId,
      initialPoints: cards.get(cardId)?.balances?.points ?? 0n,
      points: benefit.points,
      expiresAt: instantToProto(expiresAt),
    },
  ];
}

const reservePoints = (
  { deps, call, lock }: LockContext,
  reservations: readonly PointsReservation[],
) =>
  deps.clients.reservePoints(
    {
      $typeName: "scrip.loyalty.v1.PointsReservationCommand",
      projectId: call.project.id,
      sessionKey: lock.session.key,
      now: instantToProto(call.now),
      reservations: [...reservations],
    },
    call,
  );

async function reserveVouchers(
  { deps, call, lock }: LockContext,
  reservations: readonly Reservation[],
): Promise<ReservationOutcome["outcome"]> {
  const projectId = call.project.id;
  const sessionKey = lock.session.key;
  const { outcome } = await deps.clients.reserveVouchers(
    {
      $typeName: "scrip.voucher.v1.ReservationCommand",
      projectId,
      requestId: call.requestId,
      sessionKey,
      now: instantToProto(call.now),
      expiresAt: instantToProto(lock.expiresAt),
      reservations: [...reservations],
    },
    call,
  );
  // Releasing points of a voucher that is no card has no effect.
  const dropped = outcome.case === "reserved" ? outcome.value.releasedVoucherIds : [];
  await Promise.all(
    dropped.map((cardId) =>
      deps.clients.releasePoints({
        $typeName: "scrip.loyalty.v1.PointsRelease",
        projectId,
        sessionKey,
        cardId,
        until: instantToProto(call.now),
      }),
    ),
  );
  return outcome;
}
