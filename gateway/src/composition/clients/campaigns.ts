import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import {
  type CampaignQuerySchema,
  CampaignService,
  type CampaignType,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { ReferralConversion } from "@scrip/proto/scrip/common/v1/referral_conversion_pb";
import type { CreateVoucherRequest, Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Call, clientOf, createCoalescer, serviceCall } from "@scrip/rpc";

/** Campaigns by id or name; lookups of concurrent requests are sent together. */
export type Campaigns = {
  /** Undefined when no campaign has this id or name. */
  find(projectId: string, idOrName: string): Promise<FoundCampaign | undefined>;
  /** Whether the metadata of the campaign follows the schema of vouchers; throws `not_found` for an unknown one. */
  usesVoucherSchema(campaignId: string, call: Call): Promise<boolean>;
  /** Creates a voucher from the template of the campaign that the request names. */
  createVoucher(request: CreateVoucherRequest, call: Call): Promise<Voucher>;
};

export type FoundCampaign = {
  readonly id: string;
  readonly type: CampaignType;
  /** Referral programs only. */
  readonly conversion: ReferralConversion | undefined;
};

const BATCH = { lanes: 2, maxBatch: 500, maxWaiting: 10_000 };

export function createCampaignsClient(transport: Transport): Campaigns {
  const client = clientOf(CampaignService, transport);
  const lookUp = createCoalescer<
    MessageInitShape<typeof CampaignQuerySchema>,
    FoundCampaign | undefined
  >({
    ...BATCH,
    async send(queries) {
      const { results } = await client.resolveCampaigns({ queries: [...queries] }, serviceCall());
      return results.map(({ campaigns }, at) => {
        const [id] = queries[at]?.campaignIds ?? [];
        const found = campaigns.find((campaign) => campaign.id === id) ?? campaigns[0];
        if (found === undefined) return undefined;
        const { id: foundId, campaignType: type, referralConversion: conversion } = found;
        return { id: foundId, type, conversion };
      });
    },
  });
  return {
    find: (projectId, idOrName) =>
      lookUp({ projectId, campaignIds: [idOrName], campaignNames: [idOrName] }),
    usesVoucherSchema: async (campaignId, call) => {
      const own = { ...call, idempotency: undefined };
      return (await client.getCampaign({ campaignId }, own)).useVoucherMetadataSchema;
    },
    createVoucher: (request, call) => client.createVoucher(request, call),
  };
}
