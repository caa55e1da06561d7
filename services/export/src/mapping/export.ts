import { create, type JsonObject } from "@bufbuild/protobuf";
import { instantToProto } from "@scrip/mapping";
import { type Export, ExportSchema, ExportStatus } from "@scrip/proto/scrip/export/v1/exports_pb";

import type { StoredExport } from "../store/exports.ts";

const STATUS = {
  ENQUEUED: ExportStatus.SCHEDULED,
  IN_PROGRESS: ExportStatus.IN_PROGRESS,
  DONE: ExportStatus.DONE,
  FAILED: ExportStatus.ERROR,
};

export const exportToProto = (stored: StoredExport, baseUrl: string): Export =>
  create(ExportSchema, {
    id: stored.id,
    createdAt: instantToProto(stored.createdAt),
    status: STATUS[stored.status],
    channel: stored.channel,
    exportedObject: stored.object,
    parameters: stored.parameters as JsonObject,
    processed: stored.rows,
    ...resultOf(stored, baseUrl),
  });

function resultOf({ id, status, error, file, token }: StoredExport, baseUrl: string) {
  if (status === "FAILED" && error !== null) return { result: { error } };
  if (status !== "DONE" || file === null) return {};
  return { result: { url: `${baseUrl}/v1/exports/${id}?token=${token}` } };
}
