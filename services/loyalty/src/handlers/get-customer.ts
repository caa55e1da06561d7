import type { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Handler } from "@scrip/rpc";

import { describeCustomer } from "../customer/describe-customers.ts";
import type { Deps } from "../deps.ts";

export const getCustomer =
  (deps: Deps): Handler<typeof CustomerService.method.getCustomer> =>
  async ({ customerId }, { project }) =>
    describeCustomer(deps, project.id, customerId);
