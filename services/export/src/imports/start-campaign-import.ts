import type { ImportStarted } from "@scrip/proto/scrip/export/v1/imports_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findAsyncAction } from "../store/async-actions.ts";

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
  const { db, stepDb = db } = deps;
  const id = deps.newId("aa");
  const started = await findAsyncAction(stepDb, call.project.id, id);
  if (started === undefined) await start({ ...deps, db: stepDb }, id);
  // A late repetition must not announce an import again whose end the campaign service no longer stores.
  if (started?.status !== "DONE" && started?.status !== "FAILED")
    await announce(deps, call, { campaignId, importId: id });
  return { $typeName: "scrip.export.v1.ImportStarted", asyncActionId: id };
}

/** A failure is left to the first batch: a caller that got an error for a committed import would send it again. */
async function announce(
  { campaignImports }: Pick<Deps, "campaignImports">,
  call: Call,
  announced: { readonly campaignId: string; readonly importId: string },
): Promise<void> {
  try {
    await campaignImports.beginImport(announced, call);
  } catch {
    // The first batch announces it.
  }
}
