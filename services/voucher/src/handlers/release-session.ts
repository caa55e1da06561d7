import { notFound } from "@scrip/errors";
import type { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { releaseReservation } from "../store/reservations.ts";
import { findVoucher } from "../store/vouchers.ts";

/** Needs no lock of the voucher: releasing can only help a concurrent redemption. */
export const releaseSession =
  (deps: Deps): Handler<typeof RedemptionService.method.releaseSession> =>
  async ({ code, sessionKey }, call) => {
    const projectId = call.project.id;
    const voucher = await findVoucher(deps.db, projectId, code);
    if (voucher === undefined) throw notFound("voucher", code);
    const lock = { projectId, sessionKey, voucherId: voucher.definition.id };
    // Points first: when the response gets lost, a retry still finds the session.
    if (voucher.definition.loyaltyPoints !== null) await releasePoints(deps, lock, call);
    const wasHeld = await releaseReservation(deps.db, lock, call.now);
    if (!wasHeld) throw notFound("session", sessionKey);
    return { $typeName: "google.protobuf.Empty" };
  };

/** The loyalty service stores the points that the session locks; it releases all of them. */
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
