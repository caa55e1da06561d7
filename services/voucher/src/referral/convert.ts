import { enqueue, type Origin } from "@scrip/events";

import type { Deps } from "../deps.ts";
import { type ConversionCause, isConversion, rewardsOf } from "../domain/referral.ts";
import { holderAssigned } from "../events/referees.ts";
import { referralConverted } from "../events/referrals.ts";
import { lockMembership } from "../store/campaigns.ts";
import { insertHolders } from "../store/holders.ts";
import {
  countReferees,
  findReferralProgram,
  insertConversion,
} from "../store/referral-conversions.ts";
import { insertRewards } from "../store/referral-rewards.ts";
import { findVouchersById } from "../store/vouchers.ts";
import { refereeOf } from "./assign-referees.ts";

/** Something that a customer did and that may convert a referral code. */
export type ConversionRequest = {
  readonly projectId: string;
  readonly voucherId: string;
  readonly customerId: string;
  readonly cause: ConversionCause;
  readonly at: number;
  /** What caused the event that converts. */
  readonly origin: Origin | undefined;
};

/**
 * Counts the customer as a referee of the code, once: with the holder, the rewards to pay and the events in one
 * transaction. Repeating it changes nothing (docs/referrals.md#conversion).
 */
export async function convertReferral(
  deps: Pick<Deps, "db" | "newId" | "onEvents">,
  { projectId, voucherId, customerId: refereeId, cause, at, origin }: ConversionRequest,
): Promise<void> {
  const isNew = await deps.db.transaction(async (tx) => {
    const [voucher] = await findVouchersById(tx, [{ projectId, id: voucherId }]);
    const { campaignId = null, holderId: referrerId = null } = voucher?.definition ?? {};
    if (voucher === undefined || campaignId === null) return false;
    if (referrerId === null || referrerId === refereeId) return false;
    const program = await findReferralProgram(tx, projectId, campaignId);
    if (program === undefined || !isConversion(program, cause)) return false;
    // The referees of a referrer are counted one conversion at a time.
    await lockMembership(tx, { projectId, campaignId, customerId: referrerId });
    const id = deps.newId("rcv");
    const conversion = { projectId, id, voucherId, campaignId, referrerId, refereeId, cause, at };
    if (!(await insertConversion(tx, conversion))) return false;
    const planned = rewardsOf(program, conversion, await countReferees(tx, conversion));
    await insertRewards(
      tx,
      planned.map((reward) => ({
        ...reward,
        projectId,
        id: deps.newId("rrw"),
        referralCampaignId: campaignId,
        referrerId,
        refereeId,
        at,
        origin,
      })),
    );
    const referee = { id: deps.newId("rh"), customerId: refereeId, metadata: {}, createdAt: at };
    const holder = refereeOf(voucher.definition, referee);
    const assigned = await insertHolders(tx, [holder]);
    const events = [
      referralConverted(deps.newId("event"), conversion),
      ...(assigned.size > 0 ? [holderAssigned(deps.newId("event"), holder)] : []),
    ];
    await enqueue(tx, events, origin);
    return true;
  });
  if (isNew) deps.onEvents();
}
