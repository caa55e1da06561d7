import { campaignJobs } from "../campaign/campaign-jobs.ts";
import type { Deps } from "../deps.ts";
import { exportJob } from "../export/export-job.ts";
import type { ImportJobDeps } from "../imports/import-job.ts";
import { createImportJobs } from "../imports/import-jobs.ts";
import type { AnyJobDefinition } from "./job-definition.ts";

/** All types of jobs. */
export const createJobDefinitions = (
  deps: Deps & Pick<ImportJobDeps, "bulkPause">,
): readonly AnyJobDefinition[] => [
  exportJob(deps),
  ...campaignJobs(deps),
  ...createImportJobs(deps),
];
