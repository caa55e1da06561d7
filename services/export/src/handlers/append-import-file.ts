import { invalidPayload } from "@scrip/errors";
import type { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { countRecords } from "../imports/count-records.ts";
import { appendPart, lockFile, PART_BYTES } from "../store/import-files.ts";

export const appendImportFile =
  (deps: Deps): Handler<typeof ImportService.method.appendImportFile> =>
  async ({ fileId, number, data }, { project }) => {
    if (data.length > PART_BYTES)
      throw invalidPayload(`A part must NOT exceed ${PART_BYTES} bytes`);
    const key = { projectId: project.id, fileId };
    const bytes = await deps.db.transaction(async (tx) => {
      const file = await lockFile(tx, key);
      // A repeated part.
      if (number < file.parts) return file.bytes;
      if (number > file.parts || file.bytes % BigInt(PART_BYTES) !== 0n || file.jobId !== null) {
        throw invalidPayload(`Part ${number} cannot follow ${file.parts} part(s)`);
      }
      await appendPart(tx, key, { file, data, ...countRecords(data, file) });
      return file.bytes + BigInt(data.length);
    });
    return { $typeName: "scrip.export.v1.AppendImportFileResponse", bytes };
  };
