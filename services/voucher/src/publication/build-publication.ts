import { typeOfVouchers } from "../domain/publication.ts";
import type { PublicationFailure, StoredPublication } from "../store/publications.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import type { PublicationAttempt } from "./parse-request.ts";

/** What goes into the books about an attempt that published these vouchers. */
export function madePublication(
  id: string,
  attempt: PublicationAttempt,
  vouchers: readonly StoredVoucher[],
): StoredPublication {
  const [first] = vouchers;
  if (first === undefined) throw new Error("a publication has a voucher");
  return {
    ...factsOf(id, attempt),
    ...voucherFacts(first),
    failure: null,
    voucherIds: vouchers.map(({ definition }) => definition.id),
  };
}

/** What goes into the books about an attempt that was refused. */
export function failedPublication(
  id: string,
  attempt: PublicationAttempt,
  failure: PublicationFailure,
): StoredPublication {
  const { source } = attempt.wanted;
  const facts = factsOf(id, attempt);
  if (source.kind === "voucher") {
    const voucherIds = [source.voucher.definition.id];
    return { ...facts, ...voucherFacts(source.voucher), failure, voucherIds };
  }
  const { campaign } = source;
  return {
    ...facts,
    campaignId: campaign.id,
    campaignName: campaign.name,
    voucherType: typeOfVouchers(campaign),
    isReferralCode: campaign.type === "REFERRAL_PROGRAM",
    failure,
    voucherIds: [],
  };
}

function factsOf(id: string, { wanted, customer, call }: PublicationAttempt) {
  return {
    projectId: call.project.id,
    id,
    createdAt: call.now,
    customerId: customer.id,
    trackingId: customer.sourceId ?? null,
    metadata: wanted.metadata,
    channel: wanted.channel,
    sourceId: wanted.sourceId,
  };
}

const voucherFacts = ({ definition }: StoredVoucher) => ({
  campaignId: definition.campaignId,
  campaignName: definition.campaignName,
  voucherType: definition.type,
  isReferralCode: definition.isReferralCode,
});
