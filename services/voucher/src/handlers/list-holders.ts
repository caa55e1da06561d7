import { filterCondition, timeRangeConditions } from "@scrip/filters";
import type { ReferralService } from "@scrip/proto/scrip/voucher/v1/referrals_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { holderToProto } from "../mapping/holder.ts";
import { pageFromProto } from "../mapping/page.ts";
import { requireReferralCode } from "../referral/find-code.ts";
import { listHolders as list, voucherHolderFilters } from "../store/holder-lists.ts";

const ONE_PAGE = { maxPage: 1, overMaxPage: "invalid_query_params" } as const;

export const listHolders =
  (deps: Deps): Handler<typeof ReferralService.method.listHolders> =>
  async (request, call) => {
    const { limit } = pageFromProto({ limit: request.limit }, ONE_PAGE);
    const { definition } = await requireReferralCode(deps, request, call);
    const values: unknown[] = [call.project.id, definition.id];
    const { holders, total, hasMore } = await list(deps.db, {
      projectId: call.project.id,
      conditions: [
        "h.voucher_id = $2",
        filterCondition(request.filters, { fields: voucherHolderFilters, call, values }),
        ...timeRangeConditions("h.created_at", request.createdAt, values),
      ],
      values,
      descending: request.order !== "id",
      after: request.startingAfterId ?? null,
      limit,
    });
    return {
      $typeName: "scrip.voucher.v1.ListHoldersResponse",
      data: holders.map((holder) => holderToProto(holder)),
      total,
      hasMore,
      moreStartingAfter: hasMore ? holders.at(-1)?.id : undefined,
    };
  };
