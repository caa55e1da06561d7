import { create } from "@bufbuild/protobuf";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { Order, OrderInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import {
  type RedeemableRef,
  type ValidateRequest,
  type ValidationService,
  ValidationSchema,
} from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { GatheredVoucher } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call, Handlers } from "@scrip/rpc";

import { toRefusal } from "../answer/error.ts";
import { orderMessage } from "../answer/order.ts";
import { redeemableResult } from "../answer/redeemable.ts";
import { stackingRulesMessage } from "../answer/stacking-rules.ts";
import type { Deps } from "../deps.ts";
import { checkRedeemables, decide, type RedeemableName } from "../domain/decide.ts";
import type { Decision } from "../domain/decision.ts";
import type { VoucherRedeemable } from "../domain/facts.ts";
import type { StackingRules } from "../domain/stacking-rules.ts";
import { withCatalogue } from "../gather/catalogue.ts";
import { gatherCategories } from "../gather/categories.ts";
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

export const validate =
  (deps: Deps): Handlers<typeof ValidationService>["validate"] =>
  async (sent, call) => {
    refuseSession(sent.session);
    const [request, stacking] = await Promise.all([
      withCatalogue(deps, call, sent),
      gatherStackingRules(deps, call),
    ]);
    const refused = checkRedeemables(request.redeemables.map(refOf), stacking);
    if (refused !== null) throw toRefusal(refused);

    const codes = request.redeemables.flatMap(({ object, id }) =>
      object === "voucher" ? [id] : [],
    );
    const [{ vouchers }, customer, stored] = await Promise.all([
      gatherVouchers(deps, call, codes),
      gatherCustomer(deps, call, customerOf(request)),
      gatherOrder(deps, call, request.order),
    ]);
    const gathered = new Map(vouchers.map((voucher, index) => [codes[index] ?? "", voucher]));

    const decision = decisionOn(request, call, { gathered, customer, stored, stacking });

    const expand = new Set(request.options?.expand);
    const categories = expand.has("category")
      ? await gatherCategories(deps, call, vouchers)
      : undefined;
    const results = decision.redeemables.map((judged) =>
      redeemableResult(judged, {
        voucher: gathered.get(judged.redeemable.id)?.voucher,
        ref: request.redeemables[judged.position],
        input: request.order,
        stored,
        expand,
        categories,
        requestId: call.requestId,
      }),
    );
    const tracking = trackingId(
      deps,
      call,
      { ...request, customer: customerOf(request) },
      customer,
    );
    const shown =
      decision.valid && stacking.redeemablesApplicationMode === "PARTIAL"
        ? results.filter(({ status }) => status === "APPLICABLE")
        : results;
    return create(ValidationSchema, {
      id: deps.newId("valid"),
      valid: decision.valid,
      redeemables: shown,
      skippedRedeemables: results.filter(({ status }) => status === "SKIPPED"),
      inapplicableRedeemables: results.filter(({ status }) => status === "INAPPLICABLE"),
      stackingRules: stackingRulesMessage(stacking),
      ...(tracking !== undefined && { trackingId: tracking }),
      ...(decision.order !== null &&
        request.order !== undefined && {
          order: orderMessage(decision.order, request.order, stored),
        }),
    });
  };

function decisionOn(
  request: ValidateRequest,
  call: Call,
  { gathered, customer, stored, stacking }: Gathered,
): Extract<Decision, { kind: "decided" }> {
  const decision = decide({
    redeemables: request.redeemables.map((ref) => redeemableOf(ref, gathered)),
    order: request.order === undefined ? null : orderFacts(request.order, stored),
    customer: customerFacts(customerOf(request), customer),
    metadata: request.metadata ?? {},
    moment: { now: call.now, timeZone: call.project.timeZone },
    stacking,
    counts: new Map(),
    catalogue: new Map(),
    caller: { channelId: call.caller.id, userId: null },
    trace: false,
  });
  if (decision.kind === "malformed") throw toRefusal(decision.refusal);
  return decision;
}

type Gathered = {
  readonly gathered: ReadonlyMap<string, GatheredVoucher>;
  readonly customer: StoredCustomer | undefined;
  readonly stored: Order | null;
  readonly stacking: StackingRules;
};

const refOf = ({ object, id }: RedeemableRef): RedeemableName => ({
  object: object as RedeemableName["object"],
  id,
});

/** The customer stands in the request, or in its order. */
function customerOf(request: {
  readonly customer?: Customer | undefined;
  readonly order?: OrderInput | undefined;
}): Customer | undefined {
  return request.customer ?? request.order?.customer;
}

/** Promotion tiers and stacks arrive with campaigns: until then none of them can be found. */
function redeemableOf(
  ref: ValidateRequest["redeemables"][number],
  gathered: ReadonlyMap<string, GatheredVoucher>,
): VoucherRedeemable {
  const found = ref.object === "voucher" ? gathered.get(ref.id) : undefined;
  return {
    object: ref.object as "voucher",
    id: ref.id,
    voucher: found === undefined ? null : voucherFacts(found),
    credits: ref.gift?.credits ?? null,
    rewardId: ref.reward?.id ?? null,
  };
}
