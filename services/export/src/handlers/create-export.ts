import { invalidPayload } from "@scrip/errors";
import { isExportedObject } from "@scrip/exports";
import type { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { startExport } from "../export/start-export.ts";
import { parametersFromProto } from "../mapping/parameters.ts";

export const createExport =
  (deps: Deps): Handler<typeof ExportService.method.createExport> =>
  async ({ exportedObject: object, parameters }, call) => {
    if (!isExportedObject(object)) throw invalidPayload("Property .exported_object is unknown");
    return startExport(deps, call, { object, parameters: parametersFromProto(parameters) });
  };
