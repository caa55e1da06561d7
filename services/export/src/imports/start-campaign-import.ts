import type { ImportStarted } from "@scrip/proto/scrip/export/v1/imports_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { isActionStarted } from "../store/async-actions.ts";

/**
 * Starts an import into a campaign, and announces it to the campaign service before the response. The import is
 * committed first: one that is announced then also ends, whatever becomes of this process. Repeatable under its id.
 */
export async function startCampaignImport(
  deps: Deps,
  call: Call,
  campaignId: string,
  start: (deps: Deps, id: string) => Promise<ImportStarted>,
): Promise<ImportStarted> {
  const { db, stepDb = db, campaignImports } = deps;
  const id = deps.newId("aa");
  if (!(await isActionStarted(stepDb, call.project.id, id))) {
    await start({ ...deps, db: stepDb }, id);
  }
  await campaignImports.beginImport({ campaignId, importId: id }, call);
  return { $typeName: "scrip.export.v1.ImportStarted", asyncActionId: id };
}
