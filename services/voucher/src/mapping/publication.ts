import type { JsonObject } from "@bufbuild/protobuf";
import { instantToProto } from "@scrip/mapping";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { type Publication, PublicationResult } from "@scrip/proto/scrip/voucher/v1/publications_pb";

import type { StoredPublication } from "../store/publications.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { voucherToProto } from "./voucher.ts";

export type PublicationDetails = {
  readonly publication: StoredPublication;
  /** In the order of the publication, without deleted ones. */
  readonly vouchers: readonly StoredVoucher[];
  /** Undefined when the customer was deleted. */
  readonly customer: StoredCustomer | undefined;
};

export function publicationToProto({
  publication,
  vouchers,
  customer,
}: PublicationDetails): Publication {
  const { failure, voucherIds } = publication;
  const [first] = vouchers;
  const several = voucherIds.length > 1;
  return {
    $typeName: "scrip.voucher.v1.Publication",
    id: publication.id,
    createdAt: instantToProto(publication.createdAt),
    customerId: publication.customerId,
    trackingId: publication.trackingId ?? undefined,
    // Was a Struct when it was received, so it is JSON.
    metadata: publication.metadata as JsonObject,
    channel: publication.channel,
    sourceId: publication.sourceId ?? undefined,
    result: failure === null ? PublicationResult.SUCCESS : PublicationResult.FAILURE,
    customer: customerToProto(publication, customer),
    vouchersId: [...voucherIds],
    voucher: several || first === undefined ? undefined : voucherToProto(first),
    vouchers: several ? vouchers.map(({ definition }) => definition.code) : [],
    failureCode: failure?.code,
    failureMessage: failure?.message,
  };
}

function customerToProto(
  { customerId, trackingId }: StoredPublication,
  customer: StoredCustomer | undefined,
): Customer {
  const sourceId = customer === undefined ? (trackingId ?? undefined) : customer.sourceId;
  return {
    $typeName: "scrip.common.v1.Customer",
    id: customerId,
    ...(sourceId !== undefined && { sourceId }),
    ...(customer?.name !== undefined && { name: customer.name }),
    ...(customer?.email !== undefined && { email: customer.email }),
    ...(customer?.metadata !== undefined && { metadata: customer.metadata }),
  };
}
