import { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import { DEFAULT_RETENTION } from "@scrip/rpc";
import { asAdmin } from "@scrip/testing";
import { expect, test } from "vitest";

import { newCall } from "./builders.ts";
import { startPlatform } from "./deps.ts";
import { addProject, exportReader } from "./export-reader.ts";

const HOUR_MS = 3_600_000;

test("files of exports expire after their retention", async () => {
  await using platform = await startPlatform({ ...DEFAULT_RETENTION, exportFileMs: HOUR_MS });
  const call = newCall();
  await addProject(platform, call);
  const { id } = await platform
    .client(ExportService)
    .createExport({ exportedObject: "voucher" }, call);
  await exportReader(platform, call).ended(id);
  const { rows } = await asAdmin(platform.url, (client) =>
    client.query<{ expires: Date }>(
      "select file_expires_at as expires from export.export where id = $1",
      [id],
    ),
  );
  const left = (rows[0]?.expires.getTime() ?? 0) - Date.now();
  expect(left).toBeGreaterThan(HOUR_MS / 2);
  expect(left).toBeLessThanOrEqual(HOUR_MS);
});
