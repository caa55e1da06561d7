import { ApiError, notFound } from "@scrip/errors";
import type { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { downloadPart, isSameToken } from "../files/download.ts";
import { findReport, readReport } from "../store/job-reports.ts";

export const downloadReport = ({ db }: Deps): Handler<typeof ExportService.method.downloadReport> =>
  async function* download({ asyncActionId, token, ...range }) {
    const found = await findReport(db, asyncActionId);
    if (found === undefined) throw notFound("async_action", asyncActionId);
    if (!isSameToken(token, found.token)) throw new ApiError("unauthorized");
    if (found.size === null) throw notFound("async_action", asyncActionId);
    yield* downloadPart({ size: found.size, read: (part) => readReport(db, found, part) }, range);
  };
