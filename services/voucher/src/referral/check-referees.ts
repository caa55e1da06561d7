import { ApiError, duplicate, invalidPayload } from "@scrip/errors";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { VoucherDefinition } from "../domain/voucher.ts";
import { findReferencedCustomers } from "../loading/customers.ts";
import { findHolderCustomers } from "../store/holders.ts";
import { invalidVoucher } from "../voucher/check-request.ts";

export type RefereeRequest = {
  readonly definition: VoucherDefinition;
  readonly references: readonly Customer[];
  readonly call: Call;
};

/** Rejects a request that would assign a customer twice, before any customer is created for it. */
export async function checkReferees(
  deps: Deps,
  { definition, references, call }: RefereeRequest,
): Promise<void> {
  for (const [index, { id, sourceId }] of references.entries()) {
    if (id !== undefined || sourceId !== undefined) continue;
    throw invalidPayload(`Property .holders[${index}] must have .id or .source_id`);
  }
  requireReferrer(definition);
  const found = await findReferencedCustomers(deps, references, call);
  rejectDuplicates(references, found);
  const [holder] = await findHolderCustomers(deps.db, {
    projectId: call.project.id,
    voucherId: definition.id,
    customerIds: found.flatMap((customer) => customer?.id ?? []),
  });
  if (holder !== undefined) throw alreadyHolder(holder);
}

/** Rejects a voucher that is no referral code, or that has no referrer. */
export function requireReferrer({ code, isReferralCode, holderId }: VoucherDefinition): void {
  if (!isReferralCode) throw invalidVoucher(`Voucher '${code}' is not a referral code`);
  if (holderId !== null) return;
  throw new ApiError("not_published", {
    details: "Referral code must be first published to Referrer before assigning it to Referee",
  });
}

/** A customer counts once, also when one element has the id and another one the source id. */
function rejectDuplicates(
  references: readonly Customer[],
  found: readonly (StoredCustomer | undefined)[],
): void {
  const seen = new Set<string>();
  for (const [index, { id, sourceId = "" }] of references.entries()) {
    const customer = found[index];
    const key = customer === undefined ? `source id ${sourceId}` : `id ${customer.id}`;
    if (seen.has(key)) throw duplicate("customer", "id", id ?? sourceId);
    seen.add(key);
  }
}

export const alreadyHolder = (customerId: string): ApiError =>
  new ApiError("holder_assignement_duplication", {
    details: `Customer '${customerId}' is a holder of the referral code already`,
    resourceId: customerId,
    resourceType: "customer",
  });
