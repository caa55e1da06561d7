import { type DescMessage, getOption, type Message } from "@bufbuild/protobuf";
import { notFound } from "@scrip/errors";
import { CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { Reference, rule } from "@scrip/proto/scrip/options/v1/options_pb";

import type { Campaigns } from "./clients/campaigns.ts";

/** Where a request names a campaign that must be there: the fields on the way, by their local names. */
export type RequiredCampaignPlan = {
  readonly path: readonly string[];
  /** Only loyalty programmes will do. */
  readonly isProgramme: boolean;
  /** Beside it, what becomes the kind of the campaign. */
  readonly type: string | undefined;
};

export const planRequiredCampaign = (desc: DescMessage): RequiredCampaignPlan | undefined =>
  planOf(desc, []);

function planOf(
  desc: DescMessage,
  above: readonly DescMessage[],
): RequiredCampaignPlan | undefined {
  // What contains itself is not followed any deeper: the contract has no such requests.
  if (above.includes(desc)) return undefined;
  for (const field of desc.fields) {
    const { reference } = getOption(field, rule);
    const isProgramme = reference === Reference.LOYALTY_PROGRAM;
    if (isProgramme || reference === Reference.REWARD_CAMPAIGN) {
      const type = isProgramme ? undefined : desc.fields.find(({ name }) => name === "type");
      return { path: [field.localName], isProgramme, type: type?.localName };
    }
    if (field.fieldKind !== "message") continue;
    const plan = planOf(field.message, [...above, desc]);
    if (plan !== undefined) return { ...plan, path: [field.localName, ...plan.path] };
  }
  return undefined;
}

// Only the plans know what the messages are; to this module they are records of fields.
type Fields = Record<string, unknown>;

/** Turns the id or name of a campaign into its id, before the owner of the resource sees it. */
export async function resolveRequiredCampaign(
  plan: RequiredCampaignPlan,
  message: Message,
  { campaigns, projectId }: { readonly campaigns: Campaigns; readonly projectId: string },
): Promise<Message> {
  const name = plan.path.reduce<unknown>(
    (fields, key) => (fields as Fields | undefined)?.[key],
    message,
  );
  if (typeof name !== "string" || name === "") return message;
  const found = await campaigns.find(projectId, name);
  const fits =
    found !== undefined && (!plan.isProgramme || found.type === CampaignType.LOYALTY_PROGRAM);
  if (!fits) throw notFound("campaign", name);
  const told = plan.type === undefined ? {} : { [plan.type]: kindOf(found.type) };
  return replaced(message as Message & Fields, plan.path, { id: found.id, told });
}

const kindOf = (type: CampaignType): string | undefined =>
  Object.entries(CampaignType).find(([, value]) => value === type)?.[0];

/** Messages are read-only: the ones on the way are copied. */
function replaced<Part extends Fields>(
  fields: Part,
  [key = "", ...rest]: readonly string[],
  by: { readonly id: string; readonly told: Fields },
): Part {
  if (rest.length === 0) return { ...fields, [key]: by.id, ...by.told };
  return { ...fields, [key]: replaced(fields[key] as Fields, rest, by) };
}
