import { create } from "@bufbuild/protobuf";
import { parsePage } from "@scrip/postgres";
import {
  type ExportService,
  ListExportsResponseSchema,
} from "@scrip/proto/scrip/export/v1/exports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { exportToProto } from "../mapping/export.ts";
import { listExports as list } from "../store/exports.ts";

export const listExports =
  (deps: Deps): Handler<typeof ExportService.method.listExports> =>
  async (request, { project }) => {
    const { exports, total } = await list(deps.db, {
      projectId: project.id,
      order: request.order ?? "-created_at",
      createdAt: request.createdAt,
      page: parsePage(request),
    });
    return create(ListExportsResponseSchema, {
      exports: exports.map((one) => exportToProto(one, deps.baseUrl)),
      total,
    });
  };
