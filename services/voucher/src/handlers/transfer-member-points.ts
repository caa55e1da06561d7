import { ApiError, invalidPayload } from "@scrip/errors";
import type { MemberService } from "@scrip/proto/scrip/voucher/v1/members_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { withCurrentBalance } from "../loading/card-balances.ts";
import { requireCard } from "../loading/card-transactions.ts";
import { voucherToProto } from "../mapping/voucher.ts";
import { rejectionError } from "../points/adjust-points.ts";
import { cardReferenceOf, requirePublished } from "../points/card-reference.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";

export const transferMemberPoints =
  (deps: Deps): Handler<typeof MemberService.method.transferMemberPoints> =>
  async ({ memberId, campaignId, transfers }, call) => {
    const destination = await requireCard(deps, memberId, { call, campaignId });
    const sources = await Promise.all(
      transfers.map(({ code }) => requireCard(deps, code, { call })),
    );
    for (const card of [destination, ...sources]) requirePublished(card);
    if (sources.some(({ definition }) => definition.id === destination.definition.id)) {
      throw invalidPayload("Property .code must not be the card that gets the points");
    }
    const { rejected } = await deps.cards.transferPoints(
      {
        $typeName: "scrip.loyalty.v1.TransferPointsRequest",
        destination: cardReferenceOf(destination),
        destinationCard: transferCardOf(destination),
        operationId: deps.newId("vtx"),
        transfers: transfers.map(({ points = 0n, sourceId, reason }, index) => {
          const source = sources[index];
          if (source === undefined) throw new ApiError("internal_error");
          return {
            $typeName: "scrip.loyalty.v1.PointsTransfer" as const,
            source: cardReferenceOf(source),
            sourceCard: transferCardOf(source),
            points,
            ...(sourceId !== undefined && { sourceId }),
            ...(reason !== undefined && { reason }),
          };
        }),
      },
      call,
    );
    if (rejected !== undefined) {
      const removes = rejected.key === "loyalty_card_points_exceeded";
      const code = removes ? transfers[rejected.part]?.code : memberId;
      throw rejectionError(rejected, { code: code ?? "", removes });
    }
    return withCurrentBalance(deps, voucherToProto(destination), call);
  };

const transferCardOf = ({ definition: { code, campaignName } }: StoredVoucher) => ({
  $typeName: "scrip.loyalty.v1.TransferCard" as const,
  code,
  ...(campaignName !== null && { campaign: campaignName }),
});
