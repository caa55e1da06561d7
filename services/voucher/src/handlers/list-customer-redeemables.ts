import { notFound } from "@scrip/errors";
import { filterCondition, timeRangeConditions } from "@scrip/filters";
import {
  type HeldRedeemable,
  type PublicationService,
  RedeemableStatus,
} from "@scrip/proto/scrip/voucher/v1/publications_pb";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { statusOf } from "../domain/redeemable-status.ts";
import { withCurrentBalances } from "../loading/card-balances.ts";
import { findCustomer } from "../loading/customers.ts";
import { holderToProto } from "../mapping/holder.ts";
import { pageFromProto } from "../mapping/page.ts";
import { voucherToProto } from "../mapping/voucher.ts";
import { findDisabledCampaigns } from "../store/campaigns.ts";
import { holderFilters, listHolders } from "../store/holder-lists.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { findVouchersById } from "../store/vouchers.ts";

const ONE_PAGE = { maxPage: 1, overMaxPage: "invalid_query_params" } as const;

export const listCustomerRedeemables =
  (deps: Deps): Handler<typeof PublicationService.method.listCustomerRedeemables> =>
  async (request, call) => {
    const { limit } = pageFromProto({ limit: request.limit }, ONE_PAGE);
    const projectId = call.project.id;
    const customer = await findCustomer(deps, request.customerId, call);
    if (customer === undefined) throw notFound("customer", request.customerId);
    const values: unknown[] = [projectId, customer.id];
    const filter = filterCondition(request.filters, { fields: holderFilters, call, values });
    const conditions = [
      "h.customer_id = $2",
      filter,
      ...timeRangeConditions("h.created_at", request.createdAt, values),
    ];
    const { holders, total, hasMore } = await listHolders(deps.db, {
      projectId,
      conditions,
      values,
      descending: request.order !== "id",
      after: request.startingAfterId ?? null,
      limit,
    });
    const vouchers = await findVouchersById(
      deps.db,
      holders.map(({ voucherId }) => ({ projectId, id: voucherId })),
    );
    const byId = new Map(vouchers.map((voucher) => [voucher.definition.id, voucher]));
    const current = await withCurrentBalances(
      deps,
      vouchers.map((voucher) => voucherToProto(voucher)),
      call,
    );
    const disabled = await findDisabledCampaigns(
      deps.db,
      projectId,
      holders.flatMap(({ campaignId }) => campaignId ?? []),
    );
    const messages = new Map(current.map((voucher) => [voucher.id, voucher]));
    return {
      $typeName: "scrip.voucher.v1.CustomerRedeemables",
      data: holders.map((holder) => {
        const voucher = byId.get(holder.voucherId);
        const message = messages.get(holder.voucherId);
        return holderToProto(
          holder,
          voucher && message && redeemableOf({ ...voucher, message }, { now: call.now, disabled }),
        );
      }),
      total,
      hasMore,
      moreStartingAfter: hasMore ? holders.at(-1)?.id : undefined,
    };
  };

const redeemableOf = (
  { message, definition, usage }: StoredVoucher & { readonly message: Voucher },
  { now, disabled }: { readonly now: number; readonly disabled: ReadonlySet<string> },
): HeldRedeemable => ({
  $typeName: "scrip.voucher.v1.HeldRedeemable",
  type: "voucher",
  voucher: message,
  status:
    RedeemableStatus[
      statusOf(definition, usage, {
        now,
        points: message.loyaltyCard?.balance ?? null,
        isCampaignActive: !disabled.has(definition.campaignId ?? ""),
      })
    ],
});
