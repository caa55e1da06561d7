import { notFound } from "@scrip/errors";
import type { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { withCard } from "../loading/card-balances.ts";
import { toVoucher } from "../mapping/voucher.ts";
import { parsePublication } from "../publication/parse-request.ts";
import { findCampaign } from "../store/campaigns.ts";
import { findVoucher } from "../store/vouchers.ts";
import { makePublication } from "./create-publication.ts";

export const createMember =
  (deps: Deps): Handler<typeof PublicationService.method.createMember> =>
  async ({ campaignId, $typeName: _name, ...request }, call) => {
    const projectId = call.project.id;
    const campaign = await findCampaign(deps.db, projectId, campaignId);
    if (campaign?.type !== "LOYALTY_PROGRAM") throw notFound("campaign", campaignId);
    const wanted = await parsePublication(
      deps,
      {
        ...request,
        $typeName: "scrip.voucher.v1.CreatePublicationRequest",
        campaign: { $typeName: "scrip.voucher.v1.PublicationCampaign", name: campaign.id },
      },
      call,
    );
    const { source } = wanted;
    if (source.kind === "voucher" && source.voucher.definition.campaignId !== campaign.id) {
      throw notFound("voucher", request.voucher ?? "");
    }
    const { voucher, vouchersId } = await makePublication(deps, wanted, call);
    if (voucher !== undefined) return withCard(deps, voucher, call);
    // Somebody who was given several cards at once: the first is what makes a member.
    const [first = ""] = vouchersId;
    const card = await findVoucher(deps.db, projectId, first);
    if (card === undefined) throw notFound("voucher", first);
    return withCard(deps, toVoucher(card), call);
  };
