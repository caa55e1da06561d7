import { notFound } from "@scrip/errors";
import type { RedeemableRef } from "@scrip/proto/scrip/validation/v1/validations_pb";

import { singleStacking } from "../domain/stacking/single-redeemable.ts";
import { type DecisionInput, redeemableInputFromProto } from "../mapping/decision-input.ts";
import type { ValidationOptions } from "./run-validation.ts";

/** One voucher, and what it is to be decided on with. */
export type SingleVoucherRequest = Omit<DecisionInput, "redeemables"> &
  Pick<RedeemableRef, "gift" | "reward"> & { readonly code: string };

/** What endpoints for one voucher ask, and how: alone, and an unknown code is not found (§5.4). */
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
      stacking: singleStacking,
      check: ({ vouchers }) => {
        if (vouchers.get(code)?.voucher === undefined) throw notFound("voucher", code);
      },
    },
  };
}
