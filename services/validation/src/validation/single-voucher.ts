import { notFound } from "@scrip/errors";
import type { RedeemableRef } from "@scrip/proto/scrip/validation/v1/validations_pb";

import { singleRedeemableStacking } from "../domain/stacking/single-redeemable.ts";
import { type DecisionInput, redeemableInputFromProto } from "../mapping/decision-input.ts";
import type { ValidationOptions } from "./run-validation.ts";

export type SingleVoucherRequest = Omit<DecisionInput, "redeemables"> &
  Pick<RedeemableRef, "gift" | "reward"> & { readonly code: string };

/**
 * Request and options of the endpoints for one voucher: decided alone (docs/stacking.md#single-
 * redeemable), and an unknown code is rejected with `not_found`.
 */
export function singleVoucherInput(sent: SingleVoucherRequest): {
  readonly input: DecisionInput;
  readonly options: ValidationOptions;
} {
  const { code, gift, reward } = sent;
  const ref = redeemableInputFromProto({
    $typeName: "scrip.validation.v1.RedeemableRef",
    object: "voucher",
    id: code,
    ...(gift !== undefined && { gift }),
    ...(reward !== undefined && { reward }),
  });
  return {
    input: { ...sent, redeemables: [ref] },
    options: {
      stacking: singleRedeemableStacking,
      check: ({ vouchers }) => {
        if (vouchers.get(code)?.voucher === undefined) throw notFound("voucher", code);
      },
    },
  };
}
