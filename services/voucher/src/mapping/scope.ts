import { fromBinary } from "@bufbuild/protobuf";
import type { ApplicableTo } from "@scrip/proto/scrip/common/v1/applicable_to_pb";
import {
  type RedemptionScope,
  RedemptionScopeSchema,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

/** The voucher of a redemption, with what its discount applied to. */
export const withScope = (
  voucher: Voucher,
  { applicableTo, inapplicableTo }: Partial<RedemptionScope>,
): Voucher => ({
  ...voucher,
  applicableTo: applicableTo ?? NOTHING_LISTED,
  inapplicableTo: inapplicableTo ?? NOTHING_LISTED,
});

export const scopeFromBinary = (scope: Uint8Array | null): Partial<RedemptionScope> =>
  scope === null ? {} : fromBinary(RedemptionScopeSchema, scope);

/** Read-only and therefore shared. */
const NOTHING_LISTED: ApplicableTo = {
  $typeName: "scrip.common.v1.ApplicableTo",
  data: [],
  total: 0n,
};
