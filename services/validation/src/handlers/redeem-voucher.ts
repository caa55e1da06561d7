import { notFound } from "@scrip/errors";
import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Handlers } from "@scrip/rpc";

import { singleRedemption } from "../answer/redemptions.ts";
import type { Deps } from "../deps.ts";
import { singleStacking } from "../domain/single.ts";
import { redeemAsked } from "./redemption.ts";

export const redeemVoucher =
  (deps: Deps): Handlers<typeof ValidationService>["redeemVoucher"] =>
  async (sent, call) => {
    const { code, gift, reward } = sent;
    const redeemables = [
      {
        object: "voucher" as const,
        id: code,
        ...(gift !== undefined && { gift }),
        ...(reward !== undefined && { reward }),
      },
    ];
    const redeemed = await redeemAsked(
      deps,
      call,
      { ...sent, redeemables },
      {
        stacking: singleStacking,
        check: ({ vouchers }) => {
          if (vouchers.get(code)?.voucher === undefined) throw notFound("voucher", code);
        },
      },
    );
    return singleRedemption(redeemed.made, redeemed.note);
  };
