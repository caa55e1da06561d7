import type { JsonObject } from "@bufbuild/protobuf";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { OrderInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type { Session } from "@scrip/proto/scrip/common/v1/session_pb";
import type {
  RedeemableRef,
  RequestOptions,
} from "@scrip/proto/scrip/validation/v1/validations_pb";

import type { RedeemableReference } from "../domain/input/redeemable.ts";

/** The request of any endpoint that decides, in one shape. */
export type DecisionInput = {
  readonly redeemables: readonly RedeemableInput[];
  readonly order?: OrderInput | undefined;
  readonly customer?: Customer | undefined;
  readonly session?: Session | undefined;
  readonly trackingId?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly options?: RequestOptions | undefined;
};

/** A redeemable of the request. */
export type RedeemableInput = RedeemableReference & Pick<RedeemableRef, "gift" | "reward">;

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

/** The customer of the request, or of its order. */
export function customerOf({
  customer,
  order,
}: Pick<DecisionInput, "customer" | "order">): Customer | undefined {
  const sent = customer ?? order?.customer;
  if (sent !== undefined || order?.customerId === undefined) return sent;
  return { $typeName: "scrip.common.v1.Customer", id: order.customerId };
}

/** The optional parts of the response to include. */
export const expandOf = ({ options }: Pick<DecisionInput, "options">): ReadonlySet<string> =>
  new Set(options?.expand);
