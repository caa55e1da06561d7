import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Handler } from "@scrip/rpc";

import { deleteAndAnnounce } from "../customer/delete-and-announce.ts";
import type { Deps } from "../deps.ts";

export const deleteCustomer =
  (deps: Deps): Handler<typeof CustomerService.method.deleteCustomer> =>
  async ({ customerId }, call) => {
    await deleteAndAnnounce(deps, call, { customerId, permanent: false });
    return create(EmptySchema);
  };
