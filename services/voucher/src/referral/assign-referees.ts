import { enqueue } from "@scrip/events";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { Metadata, VoucherDefinition } from "../domain/voucher.ts";
import { holderAssigned } from "../events/referees.ts";
import { type Holder, insertHolders } from "../store/holders.ts";
import { lockVoucher } from "../voucher/edit-voucher.ts";
import { alreadyHolder, requireReferrer } from "./check-referees.ts";

export type Assignment = {
  readonly voucherId: string;
  readonly customerIds: readonly string[];
  readonly metadata: Metadata;
  readonly call: Call;
};

/** Assigns customers to a referral code, all or none, under the lock of its voucher. */
export async function assignReferees(
  deps: Deps,
  { voucherId, customerIds, metadata, call }: Assignment,
): Promise<readonly Holder[]> {
  const assigned = await deps.db.transaction(async (tx) => {
    const { definition } = await lockVoucher(tx, call.project.id, voucherId);
    requireReferrer(definition);
    const holders = customerIds.map((customerId) =>
      refereeOf(definition, { id: deps.newId("rh"), customerId, metadata, createdAt: call.now }),
    );
    const inserted = await insertHolders(tx, holders);
    const other = holders.find(({ id }) => !inserted.has(id));
    if (other !== undefined) throw alreadyHolder(other.customerId);
    await enqueue(
      tx,
      holders.map((holder) => holderAssigned(deps.newId("event"), holder)),
      call,
    );
    return holders;
  });
  deps.onEvents();
  return assigned;
}

/** A referee of a referral code. */
export const refereeOf = (
  { projectId, id: voucherId, campaignId, campaignType, type }: VoucherDefinition,
  referee: Pick<Holder, "id" | "customerId" | "metadata" | "createdAt">,
): Holder => ({
  projectId,
  voucherId,
  role: "REFEREE",
  campaignId,
  campaignType,
  voucherType: type,
  publicationId: null,
  ...referee,
});
