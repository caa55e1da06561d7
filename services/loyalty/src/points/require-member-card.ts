import { notFound } from "@scrip/errors";
import type { EventVoucher } from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { findPrograms } from "../store/loyalty-programs.ts";
import { requireCardId } from "./change-pending.ts";

type MemberRequest = {
  readonly memberId: string;
  /** Id or name of the program in the path. */
  readonly campaignId?: string | undefined;
  /** The card, as the gateway resolved it. */
  readonly voucher?: EventVoucher | undefined;
};

/** The id of a member's card, which must belong to the program in the path. */
export async function requireMemberCard(
  { db }: Pick<Deps, "db">,
  projectId: string,
  { memberId, campaignId: named, voucher }: MemberRequest,
): Promise<string> {
  const cardId = requireCardId({ memberId, voucher });
  const campaignId = voucher?.campaignId ?? "";
  if (named !== undefined && named !== campaignId) {
    // The gateway resolves one reference of a request; the name of the program is checked here.
    const programs = await findPrograms(db, [{ projectId, campaignId }]);
    if (programs.get(keyOf(projectId, campaignId))?.name !== named) {
      throw notFound("voucher", memberId);
    }
  }
  return cardId;
}
