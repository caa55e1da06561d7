import type { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { startExport } from "../export/start-export.ts";
import { parametersFromProto } from "../mapping/parameters.ts";

export const createOrderExport =
  (deps: Deps): Handler<typeof ExportService.method.createOrderExport> =>
  async ({ parameters }, call) =>
    startExport(deps, call, { object: "order", parameters: parametersFromProto(parameters) });
