import type { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Handler } from "@scrip/rpc";

import { requireProfile } from "../customer/require-customer.ts";
import type { Deps } from "../deps.ts";
import { toProfile } from "../mapping/customer.ts";

export const getCustomer =
  (deps: Deps): Handler<typeof CustomerService.method.getCustomer> =>
  async ({ customerId }, { project }) =>
    toProfile(await requireProfile(deps.db, project.id, customerId));
