import { voucherTypeOf } from "../domain/publication-decision.ts";
import type { PublicationFailure, StoredPublication } from "../store/publications.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import type { PublicationAttempt } from "./parse-request.ts";

/** The row of a publication of these vouchers. */
export function succeededPublication(
  id: string,
  attempt: PublicationAttempt,
  vouchers: readonly StoredVoucher[],
): StoredPublication {
  const [first] = vouchers;
  if (first === undefined) throw new Error("a publication has a voucher");
  return {
    ...attemptFields(id, attempt),
    ...voucherFields(first),
    failure: null,
    voucherIds: vouchers.map(({ definition }) => definition.id),
  };
}

/** The row of a failed publication. */
export function failedPublication(
  id: string,
  attempt: PublicationAttempt,
  failure: PublicationFailure,
): StoredPublication {
  const { source } = attempt.input;
  const fields = attemptFields(id, attempt);
  if (source.kind === "voucher") {
    const voucherIds = [source.voucher.definition.id];
    return { ...fields, ...voucherFields(source.voucher), failure, voucherIds };
  }
  const { campaign } = source;
  return {
    ...fields,
    campaignId: campaign.id,
    campaignName: campaign.name,
    voucherType: voucherTypeOf(campaign),
    isReferralCode: campaign.type === "REFERRAL_PROGRAM",
    failure,
    voucherIds: [],
  };
}

function attemptFields(id: string, { input, customer, call }: PublicationAttempt) {
  return {
    projectId: call.project.id,
    id,
    createdAt: call.now,
    customerId: customer.id,
    trackingId: customer.sourceId ?? null,
    metadata: input.metadata,
    channel: input.channel,
    sourceId: input.sourceId,
  };
}

const voucherFields = ({ definition }: StoredVoucher) => ({
  campaignId: definition.campaignId,
  campaignName: definition.campaignName,
  voucherType: definition.type,
  isReferralCode: definition.isReferralCode,
});
