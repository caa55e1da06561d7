import type { DescMessage, Message } from "@bufbuild/protobuf";
import { ruleOf } from "@scrip/contract";
import { Reference } from "@scrip/proto/scrip/options/v1/options_pb";

import type { Campaigns } from "./clients/campaigns.ts";
import type { CompileStep, MessageFields } from "./step.ts";

export const resolveCampaignStep: CompileStep = ({ rpc }, { campaigns }) => {
  const field = campaignField(rpc.input);
  if (field === undefined || campaigns === undefined) return undefined;
  return (next) => async (message, call) =>
    next(await resolveCampaign(field, message, campaigns, call.project.id), call);
};

/** The field that names a campaign by id or name, as its local name. */
const campaignField = (desc: DescMessage): string | undefined =>
  desc.fields.find((field) => ruleOf(field).reference === Reference.CAMPAIGN)?.localName;

async function resolveCampaign(
  field: string,
  message: Message,
  campaigns: Campaigns,
  projectId: string,
): Promise<Message> {
  const fields = message as MessageFields;
  const idOrName = fields[field] as string | undefined;
  if (idOrName === undefined || idOrName === "") return message;
  const id = (await campaigns.find(projectId, idOrName))?.id;
  return id === undefined || id === idOrName ? message : { ...fields, [field]: id };
}
