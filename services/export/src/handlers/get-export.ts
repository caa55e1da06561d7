import { notFound } from "@scrip/errors";
import type { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { exportToProto } from "../mapping/export.ts";
import { findExport } from "../store/exports.ts";

export const getExport =
  (deps: Deps): Handler<typeof ExportService.method.getExport> =>
  async ({ exportId }, { project }) => {
    const found = await findExport(deps.db, project.id, exportId);
    if (found === undefined) throw notFound("export", exportId);
    return exportToProto(found, deps.baseUrl);
  };
