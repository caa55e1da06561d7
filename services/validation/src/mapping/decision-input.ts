import type { JsonObject } from "@bufbuild/protobuf";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { OrderInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type { Session } from "@scrip/proto/scrip/common/v1/session_pb";
import type {
  RedeemableRef,
  RequestOptions,
} from "@scrip/proto/scrip/validation/v1/validations_pb";

import type { RedeemableName } from "../domain/decide.ts";

/** What a request asks to be decided: one shape for all endpoints that decide. */
export type DecisionInput = {
  readonly redeemables: readonly RedeemableInput[];
  readonly order?: OrderInput | undefined;
  readonly customer?: Customer | undefined;
  readonly session?: Session | undefined;
  readonly trackingId?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly options?: RequestOptions | undefined;
};

/** A redeemable as it is named in a request. */
export type RedeemableInput = RedeemableName & Pick<RedeemableRef, "gift" | "reward">;

export const redeemableInputFromProto = ({
  object,
  id,
  gift,
  reward,
}: RedeemableRef): RedeemableInput => ({
  object: object as RedeemableInput["object"],
  id,
  ...(gift !== undefined && { gift }),
  ...(reward !== undefined && { reward }),
});

/** The customer stands in the request, or in its order. */
export function customerOf({
  customer,
  order,
}: Pick<DecisionInput, "customer" | "order">): Customer | undefined {
  const sent = customer ?? order?.customer;
  if (sent !== undefined || order?.customerId === undefined) return sent;
  return { $typeName: "scrip.common.v1.Customer", id: order.customerId };
}

/** What the answer is to show beside what it always does. */
export const expandOf = ({ options }: Pick<DecisionInput, "options">): ReadonlySet<string> =>
  new Set(options?.expand);
