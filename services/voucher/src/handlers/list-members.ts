import { create } from "@bufbuild/protobuf";
import type { MemberService } from "@scrip/proto/scrip/voucher/v1/members_pb";
import { ListVouchersRequestSchema } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { listVouchers } from "./list-vouchers.ts";

/** The cards of a program: its vouchers. */
export const listMembers = (deps: Deps): Handler<typeof MemberService.method.listMembers> => {
  const list = listVouchers(deps);
  return ({ $typeName: _name, $unknown: _unknown, ...request }, call) =>
    list(create(ListVouchersRequestSchema, request), call);
};
