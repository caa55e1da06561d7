import type { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Handler } from "@scrip/rpc";

import { requireCustomerProfile } from "../customer/require-customer.ts";
import type { Deps } from "../deps.ts";
import { customerToProto } from "../mapping/customer.ts";

export const getCustomer =
  (deps: Deps): Handler<typeof CustomerService.method.getCustomer> =>
  async ({ customerId }, { project }) =>
    customerToProto(await requireCustomerProfile(deps.db, project.id, customerId));
