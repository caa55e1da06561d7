import { create } from "@bufbuild/protobuf";
import {
  ListPointsExpirationResponseSchema,
  type MemberService,
} from "@scrip/proto/scrip/voucher/v1/members_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { requireCard } from "../loading/card-transactions.ts";
import { cardReferenceOf } from "../points/card-reference.ts";

const DEFAULT_LIMIT = 10n;

export const listPointsExpiration =
  (deps: Deps): Handler<typeof MemberService.method.listPointsExpiration> =>
  async (
    { memberId, campaignId: program, limit = DEFAULT_LIMIT, page = 1n, createdAt: range },
    call,
  ) => {
    const card = await requireCard(deps, memberId, { call, campaignId: program });
    const { id: voucherId, campaignId } = card.definition;
    const { lots, total } = await deps.cards.listPointsLots(
      {
        $typeName: "scrip.loyalty.v1.ListPointsLotsRequest",
        card: cardReferenceOf(card),
        limit,
        offset: (page - 1n) * limit,
        ...(range !== undefined && { createdAt: range }),
      },
      call,
    );
    return create(ListPointsExpirationResponseSchema, {
      total,
      data: lots.map(({ id, points, expiresAt, createdAt, updatedAt }) => ({
        id,
        voucherId,
        ...(campaignId !== null && { campaignId }),
        bucket: { totalPoints: points },
        status: "ACTIVE",
        expiresAt,
        createdAt,
        updatedAt,
      })),
    });
  };
