import { randomUUID } from "node:crypto";

import { currentTime } from "@scrip/clock";

import type { Deps } from "../deps.ts";
import { defineJob } from "../jobs/job-definition.ts";
import { findExport, storeFile } from "../store/exports.ts";
import { announceExport } from "../webhooks/announce-export.ts";
import { countRows } from "./count-rows.ts";
import { fileContent } from "./file-content.ts";
import type { ExportInput } from "./parameters.ts";

export const EXPORT_JOB = "EXPORT";

/**
 * Writes the file of an export in one slice, because its rows are read in one snapshot: after a crash, the file is
 * written again.
 */
export const exportJob = (deps: Deps) => {
  const { db, files, ...clients } = deps;
  return defineJob<ExportInput, null>({
    type: EXPORT_JOB,
    async slice({ id, project, input, call, signal, progress }) {
      const counter = countRows();
      // A process that was only slow may still write another file.
      const key = `${project.id}/${id}-${randomUUID()}.csv`;
      const counted = async function* counted(): AsyncIterable<Uint8Array> {
        for await (const chunk of fileContent(clients, input, { ...call("rows"), signal })) {
          signal.throwIfAborted();
          await progress(counter.add(chunk));
          yield chunk;
        }
      };
      const size = await files.write(key, counted());
      const stored = await storeFile(db, {
        projectId: project.id,
        id,
        file: { key, size, expiresAt: new Date(currentTime() + deps.fileRetentionMs) },
      });
      // The export was deleted concurrently.
      if (!stored) await files.remove(key);
      const written = stored ? await findExport(db, project.id, id) : undefined;
      if (written !== undefined) await announceExport(deps, call("announce"), written);
      return { processed: counter.rows(), total: counter.rows(), next: null };
    },
    result: () => ({}),
  });
};
