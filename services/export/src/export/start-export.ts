import type { ExportedObject } from "@scrip/exports";
import type { Export } from "@scrip/proto/scrip/export/v1/exports_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { newLinkToken } from "../files/download.ts";
import { exportToProto } from "../mapping/export.ts";
import { findExport, insertExport } from "../store/exports.ts";
import { startJob } from "../store/jobs.ts";
import { EXPORT_JOB } from "./export-job.ts";
import {
  type ExportInput,
  type ExportScope,
  ownFilters,
  type ParametersInput,
  planExport,
  shownParameters,
} from "./parameters.ts";
import { ownersOf, validateFilters } from "./row-sources.ts";

export type ExportStart = {
  readonly object: ExportedObject;
  readonly parameters: ParametersInput;
  readonly scope?: ExportScope;
  /** The type of the vouchers whose transactions are exported. Default: both. */
  readonly balance?: ExportInput["balance"];
};

/** Checks the parameters and schedules an export. */
export async function startExport(
  deps: Deps,
  call: Call,
  { object, parameters, scope = {}, balance = null }: ExportStart,
): Promise<Export> {
  const plan = planExport(object, parameters);
  const input: ExportInput = {
    ...plan,
    filters: ownFilters(plan.filters, scope),
    campaignId: scope.campaignId ?? null,
    voucherId: scope.voucherId ?? null,
    balance,
  };
  await validateFilters(ownersOf(deps, input), input, call);
  const id = deps.newId("exp");
  const { project, now } = call;
  const created = await deps.db.transaction(async (tx) => {
    await startJob(tx, call, { id, queue: "exports", type: EXPORT_JOB, input });
    await insertExport(tx, {
      projectId: project.id,
      id,
      object,
      parameters: shownParameters(plan, parameters.order, scope),
      createdAt: new Date(now),
      token: newLinkToken(),
    });
    return findExport(tx, project.id, id);
  });
  if (created === undefined) throw new Error(`export ${id} is missing`);
  return exportToProto(created, deps.baseUrl);
}
