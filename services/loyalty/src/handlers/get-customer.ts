import type { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { toProfile } from "./customer-message.ts";
import { requireProfile } from "./find-customer.ts";

export const getCustomer =
  (deps: Deps): Handler<typeof CustomerService.method.getCustomer> =>
  async ({ customerId }, { project }) =>
    toProfile(await requireProfile(deps.db, project.id, customerId));
