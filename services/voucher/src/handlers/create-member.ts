import { notFound } from "@scrip/errors";
import type { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { withCurrentBalance } from "../loading/card-balances.ts";
import { voucherToProto } from "../mapping/voucher.ts";
import { parsePublication } from "../publication/parse-request.ts";
import { publish } from "../publication/publish.ts";
import { findCampaign } from "../store/campaigns.ts";
import { findVoucher } from "../store/vouchers.ts";

export const createMember =
  (deps: Deps): Handler<typeof PublicationService.method.createMember> =>
  async ({ campaignId, $typeName: _name, ...request }, call) => {
    const projectId = call.project.id;
    const campaign = await findCampaign(deps.db, projectId, campaignId);
    if (campaign?.type !== "LOYALTY_PROGRAM") throw notFound("campaign", campaignId);
    const input = await parsePublication(
      deps,
      {
        ...request,
        $typeName: "scrip.voucher.v1.CreatePublicationRequest",
        campaign: { $typeName: "scrip.voucher.v1.PublicationCampaign", name: campaign.id },
      },
      call,
    );
    const { source } = input;
    if (source.kind === "voucher" && source.voucher.definition.campaignId !== campaign.id) {
      throw notFound("voucher", request.voucher ?? "");
    }
    const { voucher, vouchersId } = await publish(deps, input, call);
    if (voucher !== undefined) return withCurrentBalance(deps, voucher, call);
    // When several cards were published together, the first one makes the membership.
    const [first = ""] = vouchersId;
    const card = await findVoucher(deps.db, projectId, first);
    if (card === undefined) throw notFound("voucher", first);
    return withCurrentBalance(deps, voucherToProto(card), call);
  };
