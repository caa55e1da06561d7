import type { ApplicableTo } from "@scrip/proto/scrip/validation/v1/validations_pb";

/** Read-only, so all answers share it: no rules limit a redeemable to products yet. */
export const NOTHING_LISTED: ApplicableTo = {
  $typeName: "scrip.validation.v1.ApplicableTo",
  data: [],
  total: 0n,
};
