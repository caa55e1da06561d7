import type { Publication } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { publicationToProto } from "../mapping/publication.ts";
import type { StoredPublication } from "../store/publications.ts";
import { findVouchersById } from "../store/vouchers.ts";
import { withCurrentBalances } from "./card-balances.ts";
import { findCustomers } from "./customers.ts";

/** Loads publications with the current state of their vouchers and customers. */
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
  const listed = messages.flatMap(({ voucher }) => voucher ?? []);
  const cards = new Map(
    (await withCurrentBalances(deps, listed, call)).map((card) => [card.id, card]),
  );
  return messages.map((message) => ({
    ...message,
    voucher: message.voucher && (cards.get(message.voucher.id) ?? message.voucher),
  }));
}
