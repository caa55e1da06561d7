import { notFound } from "@scrip/errors";
import type {
  ValidateVoucherRequest,
  ValidationService,
  VoucherValidation,
} from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call, Handlers } from "@scrip/rpc";

import { NOTHING_LISTED } from "../answer/applicable-to.ts";
import { discountResult, giftResult } from "../answer/benefit.ts";
import { errorMessage, toRefusal } from "../answer/error.ts";
import { orderMessage } from "../answer/order.ts";
import type { Deps } from "../deps.ts";
import { decide } from "../domain/decide.ts";
import type { JudgedRedeemable } from "../domain/decision.ts";
import type { VoucherFacts } from "../domain/facts.ts";
import { withCatalogue } from "../gather/catalogue.ts";
import { customerFacts } from "../gather/customer-facts.ts";
import {
  gatherCustomer,
  gatherOrder,
  gatherVouchers,
  refuseSession,
  trackingId,
} from "../gather/gather.ts";
import { orderFacts } from "../gather/order-facts.ts";
import { gatherStackingRules } from "../gather/stacking-rules.ts";
import { voucherFacts } from "../gather/voucher-facts.ts";

export const validateVoucher =
  (deps: Deps): Handlers<typeof ValidationService>["validateVoucher"] =>
  async (sent, call) => {
    refuseSession(sent.session);
    const request = await withCatalogue(deps, call, sent);

    const [{ vouchers }, customer, stored, stacking] = await Promise.all([
      gatherVouchers(deps, call, [request.code]),
      gatherCustomer(deps, call, request.customer),
      gatherOrder(deps, call, request.order),
      gatherStackingRules(deps, call),
    ]);
    const [gathered] = vouchers;
    const facts = gathered && voucherFacts(gathered);
    if (!gathered?.voucher || !facts) throw notFound("voucher", request.code);

    const decision = decide({
      redeemables: [redeemableOf(request, facts)],
      order: request.order === undefined ? null : orderFacts(request.order, stored),
      customer: customerFacts(request.customer, customer),
      metadata: request.metadata ?? {},
      moment: { now: call.now, timeZone: call.project.timeZone },
      stacking,
      counts: new Map(),
      catalogue: new Map(),
      caller: { channelId: call.caller.id, userId: null },
      trace: false,
    });
    if (decision.kind === "malformed") throw toRefusal(decision.refusal);
    const [judged] = decision.redeemables;
    if (judged === undefined) throw new Error("a decision without its redeemable");
    // A loyalty card without a reward is a malformed request, not an answer (§5.4).
    if (judged.status === "INAPPLICABLE" && judged.refusal.key === "missing_reward") {
      throw toRefusal(judged.refusal);
    }

    const tracking = trackingId(deps, call, request, customer);
    return {
      ...outcomeOf(judged, gathered.voucher, call),
      ...(tracking !== undefined && { trackingId: tracking }),
      ...(judged.status === "APPLICABLE" &&
        judged.order !== null &&
        request.order !== undefined && {
          order: orderMessage(judged.order, request.order, stored),
        }),
    };
  };

const redeemableOf = (request: ValidateVoucherRequest, voucher: VoucherFacts) => ({
  object: "voucher" as const,
  id: request.code,
  voucher,
  credits: request.gift?.credits ?? null,
  rewardId: request.reward?.id ?? null,
});

function outcomeOf(judged: JudgedRedeemable, voucher: Voucher, call: Call): VoucherValidation {
  const known = {
    $typeName: "scrip.validation.v1.VoucherValidation" as const,
    hints: [],
    code: voucher.code,
    applicableTo: NOTHING_LISTED,
    inapplicableTo: NOTHING_LISTED,
    metadata: voucher.metadata ?? {},
    ...(voucher.campaign !== undefined && { campaign: voucher.campaign }),
    ...(voucher.campaignId !== undefined && { campaignId: voucher.campaignId }),
  };
  if (judged.status === "APPLICABLE") {
    const discount = discountResult(voucher, judged.benefit);
    const gift = giftResult(judged.benefit);
    return {
      ...known,
      valid: true,
      ...(discount !== undefined && { discount }),
      ...(gift !== undefined && { gift }),
      ...(voucher.startDate !== undefined && { startDate: voucher.startDate }),
      ...(voucher.expirationDate !== undefined && { expirationDate: voucher.expirationDate }),
    };
  }
  if (judged.status === "SKIPPED") throw new Error("a single voucher cannot be skipped");
  const error = errorMessage(judged.refusal, call.requestId);
  return { ...known, valid: false, reason: error.message, error };
}
