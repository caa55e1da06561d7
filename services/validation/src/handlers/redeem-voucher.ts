import { notFound, Refusal, refusalOf } from "@scrip/errors";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { Order } from "@scrip/proto/scrip/common/v1/order_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type {
  RedeemVoucherRequest,
  ValidationService,
} from "@scrip/proto/scrip/validation/v1/validations_pb";
import type {
  CommitOutcome,
  GatheredVoucher,
  Redemption,
  RedemptionCommand,
  RedemptionPart,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call, Handlers } from "@scrip/rpc";

import { errorMessage, toRefusal } from "../answer/error.ts";
import { orderMessage } from "../answer/order.ts";
import { redeemedOrder } from "../answer/redeemed-order.ts";
import type { Deps } from "../deps.ts";
import { decide } from "../domain/decide.ts";
import type { Applicable, Inapplicable } from "../domain/decision.ts";
import type { VoucherFacts } from "../domain/facts.ts";
import type { StackingRules } from "../domain/stacking-rules.ts";
import { withCatalogue } from "../gather/catalogue.ts";
import { type OrderInHand, takeOrder } from "../gather/claim.ts";
import { customerFacts } from "../gather/customer-facts.ts";
import { gatherCustomer, gatherVouchers, refuseSession, trackingId } from "../gather/gather.ts";
import { orderFacts } from "../gather/order-facts.ts";
import { gatherStackingRules } from "../gather/stacking-rules.ts";
import { fromTimestamp, toTimestamp } from "../gather/timestamps.ts";
import { voucherFacts } from "../gather/voucher-facts.ts";
import { repairOrders } from "../store/orders.ts";
import { commitPatiently, pauseForChange } from "./patience.ts";

export const redeemVoucher =
  (deps: Deps): Handlers<typeof ValidationService>["redeemVoucher"] =>
  async (sent, call) => {
    refuseSession(sent.session);
    const request = await withCatalogue(deps, call, sent);
    const said = request.customer ?? request.order?.customer;

    const [first, customer, stacking] = await Promise.all([
      gatherVouchers(deps, call, [request.code]),
      gatherCustomer(deps, call, said),
      gatherStackingRules(deps, call),
    ]);
    if (first.earlier !== undefined) return answer(deps, call, first.earlier);

    const order = request.order && (await takeOrder(deps, call, request.order));
    const stored = once(() => storeCustomer(deps, call, { said, found: customer }));
    const facts: Facts = { deps, call, request, said, customer, stacking, stored, order };
    try {
      const outcome = await redeem(facts, first.vouchers[0]);
      if (outcome.outcome.case !== "made" || outcome.replayed) await order?.release();
      return await answer(deps, call, outcome);
    } catch (error) {
      await order?.release();
      throw error;
    }
  };

/** Decides and commits, again and again while the voucher is changed under the decision. */
async function redeem(facts: Facts, first: GatheredVoucher | undefined): Promise<CommitOutcome> {
  const { deps, call, request } = facts;
  let gathered = first;
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await redeemOnce(facts, gathered);
    if (outcome.outcome.case !== "stale") return outcome;
    if (!(await pauseForChange(attempt, call.deadline))) break;
    gathered = (await gatherVouchers(deps, call, [request.code])).vouchers[0];
  }
  throw new Refusal("service_unavailable", {
    details: `Voucher ${request.code} is being changed; try again`,
  });
}

/** What one redemption is decided on. */
type Facts = {
  readonly deps: Deps;
  readonly call: Call;
  readonly request: RedeemVoucherRequest;
  readonly said: Customer | undefined;
  readonly customer: StoredCustomer | undefined;
  readonly stacking: StackingRules;
  /** The customer as a redemption leaves it; however often it is decided, it is written once. */
  readonly stored: () => Promise<StoredCustomer | undefined>;
  readonly order: OrderInHand | undefined;
};

/** Decides, then commits what was decided: value taken, or a refusal recorded. */
async function redeemOnce(
  facts: Facts,
  gathered: GatheredVoucher | undefined,
): Promise<CommitOutcome> {
  const { deps, call, request, order } = facts;
  const voucher = gathered === undefined ? null : voucherFacts(gathered);
  if (voucher === null) throw notFound("voucher", request.code);

  const decision = decide({
    redeemables: [
      {
        object: "voucher",
        id: request.code,
        voucher,
        credits: request.gift?.credits ?? null,
        rewardId: request.reward?.id ?? null,
      },
    ],
    order: request.order === undefined ? null : orderFacts(request.order, order?.stored ?? null),
    customer: customerFacts(facts.said, facts.customer),
    metadata: request.metadata ?? {},
    moment: { now: call.now, timeZone: call.project.timeZone },
    stacking: facts.stacking,
    counts: new Map(),
    catalogue: new Map(),
    caller: { channelId: call.caller.id, userId: null },
    trace: false,
  });
  if (decision.kind === "malformed") throw toRefusal(decision.refusal);
  const [judged] = decision.redeemables;
  if (judged === undefined || judged.status === "SKIPPED") {
    throw new Error("a single voucher is either applicable or not");
  }
  const command =
    judged.status === "APPLICABLE"
      ? await redeemCommand(facts, voucher, judged)
      : refusalCommand(facts, voucher, judged);
  return commitPatiently(deps.clients, command);
}

async function redeemCommand(
  facts: Facts,
  voucher: VoucherFacts,
  judged: Applicable,
): Promise<RedemptionCommand> {
  const { request, call, order } = facts;
  const customer = await facts.stored();
  const credits = judged.benefit.kind === "gift" ? judged.benefit.credits : 0n;
  const command = { ...commandBase(facts, customer), parts: [partOf(voucher, credits)] };
  if (order === undefined || request.order === undefined || judged.order === null) return command;
  const calculated = orderMessage(judged.order, request.order, order.stored);
  return {
    ...command,
    order: redeemedOrder(calculated, {
      id: order.id,
      stored: order.stored,
      customerId: customer?.id,
      referrerId: request.order.referrer?.id ?? request.order.referrerId,
      now: call.now,
      newItemId: () => facts.deps.newId("ordli"),
    }),
  };
}

const partOf = (voucher: VoucherFacts, credits: bigint): RedemptionPart => ({
  $typeName: "scrip.voucher.v1.RedemptionPart",
  redeemable: { case: "voucherId", value: voucher.id },
  definitionVersion: voucher.definitionVersion,
  credits,
  orderAmount: 0n,
  discountedAmount: 0n,
  units: [],
  guards: [],
});

/** A refused redemption stores nothing but itself: no order, no customer. */
function refusalCommand(
  facts: Facts,
  voucher: VoucherFacts,
  judged: Inapplicable,
): RedemptionCommand {
  return {
    ...commandBase(facts, facts.customer),
    parts: [partOf(voucher, 0n)],
    refused: errorMessage(judged.refusal, facts.call.requestId),
  };
}

function commandBase(
  { deps, call, request, said }: Facts,
  customer: StoredCustomer | undefined,
): Omit<RedemptionCommand, "parts"> {
  const tracking = trackingId(
    deps,
    call,
    { trackingId: request.trackingId, customer: said },
    customer,
  );
  return {
    $typeName: "scrip.voucher.v1.RedemptionCommand",
    projectId: call.project.id,
    requestId: call.requestId,
    now: toTimestamp(call.now),
    note: new Uint8Array(),
    channel: {
      $typeName: "scrip.voucher.v1.Channel",
      channelId: call.caller.id,
      channelType: "API",
    },
    ...(call.idempotency !== undefined && {
      idempotency: { $typeName: "scrip.voucher.v1.IdempotencyKey", ...call.idempotency },
    }),
    ...(customer !== undefined && { customerId: customer.id, customer: shownCustomer(customer) }),
    ...(tracking !== undefined && { trackingId: tracking }),
    ...(request.metadata !== undefined && { metadata: request.metadata }),
  };
}

/** Creates or updates the customer, now that the redemption is going to happen (§8.2). */
async function storeCustomer(
  deps: Deps,
  call: Call,
  {
    said,
    found,
  }: { readonly said: Customer | undefined; readonly found: StoredCustomer | undefined },
): Promise<StoredCustomer | undefined> {
  if (said === undefined || (said.id === undefined && said.sourceId === undefined))
    return undefined;
  if (found !== undefined && !saysMore(said)) return found;
  const answered = await deps.clients.resolveCustomer({
    projectId: call.project.id,
    customer: said,
    upsert: true,
    now: toTimestamp(call.now),
  });
  return answered.customer;
}

function once<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let asked: Promise<Answer> | undefined;
  return () => (asked ??= ask());
}

const IDENTITY: ReadonlySet<string> = new Set(["$typeName", "id", "sourceId"]);

const saysMore = (customer: Customer): boolean =>
  Object.entries(customer).some(([field, value]) => value !== undefined && !IDENTITY.has(field));

function shownCustomer(customer: StoredCustomer): Customer {
  return {
    $typeName: "scrip.common.v1.Customer",
    id: customer.id,
    ...(customer.sourceId !== undefined && { sourceId: customer.sourceId }),
    ...(customer.name !== undefined && { name: customer.name }),
    ...(customer.email !== undefined && { email: customer.email }),
    ...(customer.metadata !== undefined && { metadata: customer.metadata }),
  };
}

/**
 * Gives the outcome its answer, and stores the order of the redemption. The commit was the truth:
 * when this process dies before the order is stored, a repeat or the redemption's event stores it.
 */
async function answer(deps: Deps, call: Call, outcome: CommitOutcome): Promise<Redemption> {
  if (outcome.replayed) call.onReplay?.();
  switch (outcome.outcome.case) {
    case "made": {
      const [redemption] = outcome.outcome.value.redemptions;
      if (redemption === undefined) throw new Error("a redemption was committed and not answered");
      if (redemption.order !== undefined) {
        await storeOrder(deps, call, redemption.order, outcome.replayed ? redemption : undefined);
      }
      return redemption;
    }
    case "refused":
      throw refusalOf(outcome.outcome.value);
    default:
      throw new Error("a commit without an outcome");
  }
}

/** A repeat only mends what is missing: the order may have moved on since the first answer. */
async function storeOrder(
  deps: Deps,
  call: Call,
  order: Order,
  repeated: Redemption | undefined,
): Promise<void> {
  const projectId = call.project.id;
  if (repeated === undefined) {
    await deps.saveOrder({ projectId, order, at: new Date(call.now) });
  } else if (repeated.date !== undefined) {
    await repairOrders(deps.db, [{ projectId, order, at: new Date(fromTimestamp(repeated.date)) }]);
  }
}
