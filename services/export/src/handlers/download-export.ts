import { ApiError, notFound } from "@scrip/errors";
import type { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { downloadPart, isSameToken } from "../files/download.ts";
import { findLinkedExport } from "../store/exports.ts";

export const downloadExport = ({
  db,
  files,
}: Deps): Handler<typeof ExportService.method.downloadExport> =>
  async function* download({ exportId, token, ...range }) {
    const found = await findLinkedExport(db, exportId);
    if (found === undefined) throw notFound("export", exportId);
    if (!isSameToken(token, found.token)) throw new ApiError("unauthorized");
    if (found.file === null) throw notFound("export", exportId);
    const { key, size } = found.file;
    yield* downloadPart({ size, read: (part) => files.read(key, part) }, range);
  };
