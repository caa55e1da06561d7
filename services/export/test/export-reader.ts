import type { JsonObject } from "@bufbuild/protobuf";
import { ExportService, ExportStatus } from "@scrip/proto/scrip/export/v1/exports_pb";
import type { Call } from "@scrip/rpc";
import { asAdmin } from "@scrip/testing";
import { parse } from "csv-parse/sync";
import { expect } from "vitest";

import type { startPlatform } from "./deps.ts";

type Platform = Awaited<ReturnType<typeof startPlatform>>;

/** Jobs are carried out for projects that the service knows. */
export const addProject = ({ url }: Platform, { project }: Call): Promise<unknown> =>
  asAdmin(url, (client) =>
    client.query(
      `insert into export.project (project_id, version, deleted, time_zone, first_weekday, case_sensitive_codes)
       values ($1, 1, false, 'UTC', 1, true)`,
      [project.id],
    ),
  );

/** Reads the files of the exports of a project. */
export function exportReader(platform: Platform, call: Call) {
  const exports = platform.client(ExportService);
  async function ended(exportId: string) {
    const get = () => exports.getExport({ exportId }, call);
    const hasEnded = async (): Promise<boolean> => {
      const { status } = await get();
      return status === ExportStatus.DONE || status === ExportStatus.ERROR;
    };
    await expect.poll(hasEnded).toBe(true);
    return get();
  }
  /** The text of the file of an export. */
  async function download(
    exportId: string,
    part: { readonly first?: bigint; readonly last?: bigint } = {},
  ): Promise<string> {
    const { result } = await ended(exportId);
    const token = new URL(result?.url ?? "").searchParams.get("token") ?? "";
    const chunks: Uint8Array[] = [];
    for await (const { data } of exports.downloadExport({ exportId, token, ...part }, call)) {
      chunks.push(data);
    }
    return Buffer.concat(chunks).toString();
  }
  /** The rows of an export of this object, header first. */
  async function rowsOf(
    exportedObject: string,
    parameters: {
      readonly fields?: string[];
      readonly order?: string;
      readonly filters?: JsonObject;
    } = {},
  ): Promise<readonly string[][]> {
    const { id } = await exports.createExport({ exportedObject, parameters }, call);
    return parse(await download(id));
  }
  return { ended, download, rowsOf };
}
