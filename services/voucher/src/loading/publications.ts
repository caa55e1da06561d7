import type { JsonObject } from "@bufbuild/protobuf";
import { instantToProto } from "@scrip/mapping";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { type Publication, PublicationResult } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { voucherToProto } from "../mapping/voucher.ts";
import type { StoredPublication } from "../store/publications.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { findVouchersById } from "../store/vouchers.ts";
import { withCurrentBalances } from "./card-balances.ts";
import { findCustomers } from "./customers.ts";

export type PublicationParts = {
  readonly publication: StoredPublication;
  /** In their order; those that are gone are missing. */
  readonly vouchers: readonly StoredVoucher[];
  /** Undefined once it is deleted. */
  readonly customer: StoredCustomer | undefined;
};

export function publicationToProto({
  publication,
  vouchers,
  customer,
}: PublicationParts): Publication {
  const { failure, voucherIds } = publication;
  const [first] = vouchers;
  const several = voucherIds.length > 1;
  return {
    $typeName: "scrip.voucher.v1.Publication",
    id: publication.id,
    createdAt: instantToProto(publication.createdAt),
    customerId: publication.customerId,
    trackingId: publication.trackingId ?? undefined,
    // JSON that came through the contract's Struct and was stored as JSON.
    metadata: publication.metadata as JsonObject,
    channel: publication.channel,
    sourceId: publication.sourceId ?? undefined,
    result: failure === null ? PublicationResult.SUCCESS : PublicationResult.FAILURE,
    customer: shownCustomer(publication, customer),
    vouchersId: [...voucherIds],
    voucher: several || first === undefined ? undefined : voucherToProto(first),
    vouchers: several ? vouchers.map(({ definition }) => definition.code) : [],
    failureCode: failure?.code,
    failureMessage: failure?.message,
  };
}

function shownCustomer(
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

/** Publications with their vouchers and customers as they are now. */
export async function loadPublications(
  deps: Deps,
  publications: readonly StoredPublication[],
  call: Call,
): Promise<Publication[]> {
  const projectId = call.project.id;
  const ids = [...new Set(publications.flatMap(({ voucherIds }) => voucherIds))];
  const [vouchers, customers] = await Promise.all([
    findVouchersById(
      deps.db,
      ids.map((id) => ({ projectId, id })),
    ),
    findCustomers(
      deps,
      publications.map(({ customerId }) => customerId),
      call,
    ),
  ]);
  const byId = new Map(vouchers.map((voucher) => [voucher.definition.id, voucher]));
  const messages = publications.map((publication) =>
    publicationToProto({
      publication,
      vouchers: publication.voucherIds.flatMap((id) => byId.get(id) ?? []),
      customer: customers.get(publication.customerId),
    }),
  );
  const shown = messages.flatMap(({ voucher }) => voucher ?? []);
  const cards = new Map(
    (await withCurrentBalances(deps, shown, call)).map((card) => [card.id, card]),
  );
  return messages.map((message) => ({
    ...message,
    voucher: message.voucher && (cards.get(message.voucher.id) ?? message.voucher),
  }));
}
