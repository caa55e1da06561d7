import { invalidPayload, notFound, ApiError } from "@scrip/errors";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { CreatePublicationRequest } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { Metadata } from "../domain/voucher.ts";
import { findCampaign, type StoredCampaign } from "../store/campaigns.ts";
import { isPromotion } from "../store/promotion-campaigns.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { findVoucher } from "../store/vouchers.ts";

const DEFAULT_CHANNEL = "API";

/** A publication request after its lookups. */
export type PublicationInput = {
  readonly customer: Customer;
  readonly source: PublicationSource;
  readonly joinOnce: boolean | undefined;
  readonly sourceId: string | null;
  readonly metadata: Metadata;
  readonly channel: string;
};

export type PublicationSource =
  | {
      readonly kind: "voucher";
      readonly voucher: StoredVoucher;
      readonly campaign: StoredCampaign | null;
    }
  | { readonly kind: "campaign"; readonly campaign: StoredCampaign; readonly count: number };

/** A publication request with its customer. */
export type PublicationAttempt = {
  readonly input: PublicationInput;
  readonly customer: StoredCustomer;
  readonly call: Call;
};

export async function parsePublication(
  deps: Deps,
  request: CreatePublicationRequest,
  call: Call,
): Promise<PublicationInput> {
  const { customer, sourceId } = request;
  if (customer?.id === undefined && customer?.sourceId === undefined) {
    throw invalidPayload("Property .customer must have .id or .source_id");
  }
  const source = await findSource(deps, request, call);
  if (source.kind === "campaign" && source.count > 1 && sourceId !== undefined) {
    throw new ApiError("too_many_vouchers_requested", { details: "Only up to 1 can be published" });
  }
  return {
    customer: call.caller.side === "client" ? customerIdentity(customer) : customer,
    source,
    joinOnce: request.joinOnce,
    sourceId: sourceId ?? null,
    metadata: request.metadata ?? {},
    channel: request.channel ?? DEFAULT_CHANNEL,
  };
}

/** A client-side caller may reference any customer, but must neither change nor see their stored data. */
export const customerIdentity = ({ $typeName, id, sourceId }: Customer): Customer => ({
  $typeName,
  ...(id !== undefined && { id }),
  ...(sourceId !== undefined && { sourceId }),
});

/** A promotion exists, but has no vouchers. */
async function rejectionOf(db: Deps["db"], projectId: string, idOrName: string): Promise<ApiError> {
  if (!(await isPromotion(db, projectId, idOrName))) return notFound("campaign", idOrName);
  const details = `Campaign ${idOrName} is a promotion, which has no vouchers to publish`;
  return new ApiError("no_voucher_suitable_for_publication", { details });
}

/** Looked up before the customer, who must not be created for a request that fails. */
async function findSource(
  { db }: Deps,
  { voucher: code, campaign }: CreatePublicationRequest,
  { project }: Call,
): Promise<PublicationSource> {
  if (code !== undefined) {
    const voucher = await findVoucher(db, project.id, code);
    if (voucher === undefined) throw notFound("voucher", code);
    const { campaignId } = voucher.definition;
    const known = campaignId === null ? undefined : await findCampaign(db, project.id, campaignId);
    return { kind: "voucher", voucher, campaign: known ?? null };
  }
  if (campaign === undefined) {
    throw new ApiError("missing_vouchers", { details: "Either Campaign or Voucher is required" });
  }
  const known = await findCampaign(db, project.id, campaign.name);
  if (known === undefined) throw await rejectionOf(db, project.id, campaign.name);
  return { kind: "campaign", campaign: known, count: Number(campaign.count ?? 1n) };
}
