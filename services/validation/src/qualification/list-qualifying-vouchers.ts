import { instantFromProto } from "@scrip/mapping";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  compareInOrder,
  type DatedResource,
  type ResourceOrder,
} from "../domain/qualification/resource-order.ts";
import { evaluateWindows, type SourceEvaluation } from "./evaluate-candidates.ts";

export type VoucherQualification = {
  readonly evaluation: SourceEvaluation;
  readonly order: ResourceOrder;
  readonly limit: number;
};

/**
 * Candidates are read newest first: in this order the list is complete as soon as it is long enough, in
 * others all candidates are evaluated and then sorted.
 */
export async function listQualifyingVouchers(
  deps: Deps,
  call: Call,
  { evaluation, order, limit }: VoucherQualification,
): Promise<readonly Voucher[]> {
  const found: Voucher[] = [];
  for await (const { qualified } of evaluateWindows(deps, call, evaluation, null)) {
    found.push(
      ...qualified.flatMap(
        ({ candidate, context }) => context.vouchers.get(candidate.id)?.voucher ?? [],
      ),
    );
    if (order === "-created_at" && found.length >= limit) break;
  }
  const compare = compareInOrder(order);
  return found
    .map((voucher) => ({ voucher, dates: datesOf(voucher) }))
    .toSorted((a, b) => compare(a.dates, b.dates))
    .slice(0, limit)
    .map(({ voucher }) => voucher);
}

const datesOf = ({ id, createdAt, updatedAt }: Voucher): DatedResource => ({
  id,
  createdAt: createdAt === undefined ? 0 : instantFromProto(createdAt),
  updatedAt: updatedAt === undefined ? null : instantFromProto(updatedAt),
});
