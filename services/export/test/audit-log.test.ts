import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { newId } from "@scrip/ids";
import { maintainPartitions, migrate } from "@scrip/postgres";
import { ChangeAuditedSchema } from "@scrip/proto/scrip/events/v1/audit_pb";
import { afterAll, describe, expect, test } from "vitest";

import { onChange } from "../src/events/on-change.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { auditTable } from "../src/store/audit-entries.ts";
import { newCall } from "./builders.ts";
import { startExports } from "./deps.ts";

const exports = await startExports();
afterAll(() => exports[Symbol.asyncDispose]());
const { auditLog, db, webhooks } = exports;

const DAY_MS = 24 * 3_600_000;
const CONTEXT = { group: "test", topic: "test", signal: new AbortController().signal };

/** Delivers the entry of a change by another service. */
async function deliver(projectId: string, change: { action?: string; at?: number } = {}) {
  const { action = "updateVoucher", at = Date.now() } = change;
  const id = newId("aud");
  const entry = create(ChangeAuditedSchema, {
    projectId,
    id,
    action,
    resource: "voucher",
    resourceId: "v_1",
    date: timestampFromMs(at),
  });
  const event = {
    id,
    projectId,
    topic: CONTEXT.topic,
    key: projectId,
    type: ChangeAuditedSchema.typeName,
    payload: toBinary(ChangeAuditedSchema, entry),
    headers: {},
    occurredAt: new Date(at),
    partition: 0,
    offset: 0n,
  };
  await onChange(db)([event, event], CONTEXT);
  await onChange(db)([event], CONTEXT);
  return id;
}

describe("ListAuditLog", () => {
  test("lists each change of the project once, those of this service too", async () => {
    const call = newCall();
    const delivered = await deliver(call.project.id);
    await deliver(newId("proj"));
    const { id } = await webhooks.createWebhook(
      { targetUrl: "https://shop.example/hook", events: ["voucher.deleted"] },
      call,
    );
    const { data } = await auditLog.listAuditLog({ order: "created_at" }, call);
    expect(data.map((entry) => [entry.action, entry.resource?.id, entry.actor?.id])).toEqual([
      ["updateVoucher", "v_1", ""],
      ["createWebhook", id, "app_test"],
    ]);
    expect(data[0]?.id).toBe(delivered);
  });

  test("stores nothing of a request that is rejected", async () => {
    const call = newCall();
    await expect(
      webhooks.createWebhook({ targetUrl: "ftp://x", events: ["voucher.deleted"] }, call),
    ).rejects.toMatchObject({ key: "invalid_payload" });
    expect((await auditLog.listAuditLog({}, call)).data).toEqual([]);
  });

  test("drops the entries of a month when all of them are older than the retention", async () => {
    const call = newCall();
    const maintain = (keepMs: number) =>
      maintainPartitions({ url: db.url, schema: SCHEMA, tables: [auditTable(keepMs)] });
    await maintain(365 * DAY_MS);
    const actionsOf = async () =>
      (await auditLog.listAuditLog({}, call)).data.map(({ action }) => action);
    await deliver(call.project.id, { action: "old", at: Date.now() - 400 * DAY_MS });
    await deliver(call.project.id, { action: "new" });
    expect(await actionsOf()).toEqual(["new", "old"]);
    await maintain(365 * DAY_MS);
    expect(await actionsOf()).toEqual(["new"]);
  });

  test("is append-only for the role of the service, also in partitions", async () => {
    const call = newCall();
    await maintainPartitions({ url: db.url, schema: SCHEMA, tables: [auditTable(365 * DAY_MS)] });
    // As the next start does, which grants the tables again.
    await migrate({ url: db.url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
    await deliver(call.project.id);
    const { rows } = await db.query<{ part: string }>(
      "select relid::text as part from pg_partition_tree('audit_entry')",
    );
    expect(rows.length).toBeGreaterThan(2);
    for (const { part } of rows) {
      await expect(db.query(`update ${part} set actor_id = 'nobody'`)).rejects.toThrow("denied");
      await expect(db.query(`delete from ${part}`)).rejects.toThrow("denied");
    }
  });
});
