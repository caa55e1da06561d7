import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { notFound } from "@scrip/errors";
import type { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteExport as remove } from "../store/exports.ts";

export const deleteExport =
  (deps: Deps): Handler<typeof ExportService.method.deleteExport> =>
  async ({ exportId }, { project }) => {
    const deleted = await remove(deps.db, project.id, exportId);
    if (deleted === undefined) throw notFound("export", exportId);
    if (deleted.fileKey !== null) await deps.files.remove(deleted.fileKey);
    return create(EmptySchema);
  };
