import { notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";

import { type CampaignRecord, findCampaign } from "../store/campaigns.ts";

/** The campaign with this id or name, or `not_found`. */
export async function requireCampaign(
  db: Queryable,
  projectId: string,
  idOrName: string,
): Promise<CampaignRecord> {
  const record = await findCampaign(db, projectId, idOrName);
  if (record === undefined) throw notFound("campaign", idOrName);
  return record;
}
