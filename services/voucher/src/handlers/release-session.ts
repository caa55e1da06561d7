import { notFound } from "@scrip/errors";
import type { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { releaseReservation } from "../store/reservations.ts";
import { findVoucher } from "../store/vouchers.ts";

/** Needs no lock of the voucher: what is freed can only help a redemption that is under way. */
export const releaseSession =
  (deps: Deps): Handler<typeof RedemptionService.method.releaseSession> =>
  async ({ code, sessionKey }, call) => {
    const projectId = call.project.id;
    const voucher = await findVoucher(deps.db, projectId, code);
    if (voucher === undefined) throw notFound("voucher", code);
    const lock = { projectId, sessionKey, voucherId: voucher.definition.id };
    // First the points: when the answer to this gets lost a repeat still finds the session.
    if (voucher.definition.loyaltyPoints !== null) await releasePoints(deps, lock, call);
    const wasHeld = await releaseReservation(deps.db, lock, call.now);
    if (!wasHeld) throw notFound("session", sessionKey);
    return { $typeName: "google.protobuf.Empty" };
  };

/** What the session holds of a card is kept where its points are: whenever it was locked, all of it goes. */
const releasePoints = (
  { cards }: Deps,
  lock: { readonly projectId: string; readonly sessionKey: string; readonly voucherId: string },
  call: Call,
) =>
  cards.releasePoints(
    {
      $typeName: "scrip.loyalty.v1.ReleasePointsRequest",
      releases: [
        {
          $typeName: "scrip.loyalty.v1.PointsRelease",
          projectId: lock.projectId,
          sessionKey: lock.sessionKey,
          cardId: lock.voucherId,
        },
      ],
    },
    call,
  );
