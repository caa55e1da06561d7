import type { DescMessage, Message } from "@bufbuild/protobuf";
import { ruleOf } from "@scrip/contract";
import { notFound } from "@scrip/errors";
import { CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { Reference } from "@scrip/proto/scrip/options/v1/options_pb";

import type { Campaigns } from "./clients/campaigns.ts";
import type { CompileStep, Fields, MessageFields } from "./step.ts";

export const resolveRequiredCampaignStep: CompileStep = ({ rpc }, { campaigns }) => {
  const plan = planOf(rpc.input, []);
  if (plan === undefined || campaigns === undefined) return undefined;
  return (next) => async (message, call) =>
    next(await resolveRequiredCampaign(plan, message, campaigns, call.project.id), call);
};

/** Where a request names a campaign that must exist. */
type RequiredCampaignPlan = {
  /** Local names of the fields from the request down to the one that names the campaign. */
  readonly path: readonly string[];
  readonly isLoyaltyProgram: boolean;
  /** The sibling field that receives the kind of the campaign. */
  readonly type: string | undefined;
};

function planOf(
  desc: DescMessage,
  parents: readonly DescMessage[],
): RequiredCampaignPlan | undefined {
  // Recursive messages are visited once: no public request names a campaign below its own type.
  if (parents.includes(desc)) return undefined;
  for (const field of desc.fields) {
    const { reference } = ruleOf(field);
    const isLoyaltyProgram = reference === Reference.LOYALTY_PROGRAM;
    if (isLoyaltyProgram || reference === Reference.REQUIRED_CAMPAIGN) {
      const type = isLoyaltyProgram ? undefined : desc.fields.find(({ name }) => name === "type");
      return { path: [field.localName], isLoyaltyProgram, type: type?.localName };
    }
    if (field.fieldKind !== "message") continue;
    const plan = planOf(field.message, [...parents, desc]);
    if (plan !== undefined) return { ...plan, path: [field.localName, ...plan.path] };
  }
  return undefined;
}

async function resolveRequiredCampaign(
  plan: RequiredCampaignPlan,
  message: Message,
  campaigns: Campaigns,
  projectId: string,
): Promise<Message> {
  const idOrName = plan.path.reduce<unknown>(
    (fields, key) => (fields as Fields | undefined)?.[key],
    message,
  );
  if (typeof idOrName !== "string" || idOrName === "") return message;
  const campaign = await campaigns.find(projectId, idOrName);
  const isWrongKind = plan.isLoyaltyProgram && campaign?.type !== CampaignType.LOYALTY_PROGRAM;
  if (campaign === undefined || isWrongKind) throw notFound("campaign", idOrName);
  const siblings = plan.type === undefined ? {} : { [plan.type]: kindOf(campaign.type) };
  return replaceAt(message as MessageFields, plan.path, { id: campaign.id, siblings });
}

const kindOf = (type: CampaignType): string | undefined =>
  Object.entries(CampaignType).find(([, value]) => value === type)?.[0];

/** Messages are read-only, so each message on the path is copied. */
function replaceAt<Part extends Fields>(
  fields: Part,
  [key = "", ...rest]: readonly string[],
  by: { readonly id: string; readonly siblings: Fields },
): Part {
  if (rest.length === 0) return { ...fields, [key]: by.id, ...by.siblings };
  return { ...fields, [key]: replaceAt(fields[key] as Fields, rest, by) };
}
