import {
  type DescMessage,
  getOption,
  isMessage,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import {
  type CampaignQuerySchema,
  CampaignService,
  type CampaignType,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { Reference, rule } from "@scrip/proto/scrip/options/v1/options_pb";
import {
  type CreateVoucherRequest,
  CreateVoucherRequestSchema,
  type Voucher,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Call, clientOf, createCoalescer, serviceCall } from "@scrip/rpc";

/** Looks campaigns of all kinds up by their names, many at a time, and has vouchers made in them. */
export type Campaigns = {
  /** The id of the campaign that is named so, or has this id; undefined when there is none. */
  idOf(projectId: string, idOrName: string): Promise<string | undefined>;
  /** The same, with what kind of campaign it is. */
  find(projectId: string, idOrName: string): Promise<FoundCampaign | undefined>;
  /** A voucher of the campaign that the request names. */
  createVoucher(request: CreateVoucherRequest, call: Call): Promise<Voucher>;
};

export type FoundCampaign = { readonly id: string; readonly type: CampaignType };

const BATCH = { lanes: 2, maxBatch: 500, maxWaiting: 10_000 };

export function createCampaignsClient(transport: Transport): Campaigns {
  const client = clientOf(CampaignService, transport);
  const ask = createCoalescer<
    MessageInitShape<typeof CampaignQuerySchema>,
    FoundCampaign | undefined
  >({
    ...BATCH,
    async send(queries) {
      const { results: answers } = await client.resolveCampaigns(
        { queries: [...queries] },
        serviceCall(),
      );
      return answers.map(({ campaigns }, at) => {
        const [id] = queries[at]?.campaignIds ?? [];
        const found = campaigns.find((campaign) => campaign.id === id) ?? campaigns[0];
        return found && { id: found.id, type: found.campaignType };
      });
    },
  });
  const find: Campaigns["find"] = (projectId, idOrName) =>
    ask({ projectId, campaignIds: [idOrName], campaignNames: [idOrName] });
  return {
    find,
    idOf: async (projectId, idOrName) => (await find(projectId, idOrName))?.id,
    createVoucher: (request, call) => client.createVoucher(request, call),
  };
}

/**
 * A new voucher that names its campaign: what it is made of is in the campaign, so the campaign service
 * makes it.
 */
export function voucherOfCampaign(message: Message): CreateVoucherRequest | undefined {
  if (!isMessage(message, CreateVoucherRequestSchema)) return undefined;
  return message.campaignId !== undefined || message.campaign !== undefined ? message : undefined;
}

/** The field of a request that names a campaign, by its local name. */
export const planCampaign = (desc: DescMessage): string | undefined =>
  desc.fields.find((field) => getOption(field, rule).reference === Reference.CAMPAIGN)?.localName;

/** Turns the name of a campaign into its id. What is unknown stays as it was sent. */
export async function resolveCampaign(
  field: string,
  message: Message,
  { campaigns, projectId }: { readonly campaigns: Campaigns; readonly projectId: string },
): Promise<Message> {
  const fields = message as Message & Record<string, unknown>;
  const name = fields[field] as string | undefined;
  if (name === undefined || name === "") return message;
  const id = await campaigns.idOf(projectId, name);
  return id === undefined || id === name ? message : { ...fields, [field]: id };
}
