import { OrderService } from "@scrip/proto/scrip/validation/v1/orders_pb";
import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { implement } from "@scrip/rpc";

import type { Deps } from "./deps.ts";
import { createOrder } from "./handlers/create-order.ts";
import { getOrder } from "./handlers/get-order.ts";
import { listOrders } from "./handlers/list-orders.ts";
import { redeemVoucher } from "./handlers/redeem-voucher.ts";
import { updateOrder } from "./handlers/update-order.ts";
import { validateVoucher } from "./handlers/validate-voucher.ts";
import { validate } from "./handlers/validate.ts";

/** The table of contents of this service: one line for each RPC. */
export const routes = (deps: Deps) => [
  implement(ValidationService, {
    validateVoucher: validateVoucher(deps),
    validate: validate(deps),
    redeemVoucher: redeemVoucher(deps),
  }),
  implement(OrderService, {
    createOrder: createOrder(deps),
    listOrders: listOrders(deps),
    getOrder: getOrder(deps),
    updateOrder: updateOrder(deps),
  }),
];
