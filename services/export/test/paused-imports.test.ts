import { createKafkaEventBus } from "@scrip/events";
import { newId } from "@scrip/ids";
import {
  AsyncActionService,
  AsyncActionStatus,
} from "@scrip/proto/scrip/export/v1/async_actions_pb";
import { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import type { Call } from "@scrip/rpc";
import { asAdmin, emptyDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { createBulkPause } from "../src/webhooks/bulk-pause.ts";
import { WEBHOOK_GROUP } from "../src/webhooks/subscription.ts";
import { newCall } from "./builders.ts";
import { startPlatform } from "./deps.ts";
import { addProject } from "./export-reader.ts";

const platform = await startPlatform();
afterAll(() => platform[Symbol.asyncDispose]());
const imports = platform.client(ImportService);
const asyncActions = platform.client(AsyncActionService);

/** Starts an import of a voucher in a new project. */
async function startImport(webhooksEnable: boolean) {
  const call: Call = newCall();
  await addProject(platform, call);
  const fileId = newId("imp");
  const data = Buffer.from(
    "Code,Voucher Type,Discount Type,Discount Amount\na,DISCOUNT_VOUCHER,AMOUNT,1\n",
  );
  await imports.appendImportFile({ fileId, number: 0n, data }, call);
  const startedAt = performance.now();
  const { asyncActionId } = await imports.importVouchersCsv({ fileId, webhooksEnable }, call);
  const action = () => asyncActions.getAsyncAction({ asyncActionId }, call);
  return {
    action,
    /** Milliseconds that it took. */
    ended: async (): Promise<number> => {
      const statusOf = async () => (await action()).status;
      await expect.poll(statusOf, { timeout: 30_000 }).toBe(AsyncActionStatus.DONE);
      return performance.now() - startedAt;
    },
  };
}

/** Until disposed, the oldest event that webhooks receive has been unhandled for a minute. */
async function letEventsBeLate(): Promise<AsyncDisposable> {
  const run = (statement: string, values: readonly string[]) =>
    asAdmin(platform.url, (client) => client.query(statement, [...values]));
  await run(
    `insert into events.bus_batch (topic, first_offset, last_offset, published_at, partitions, size, events)
     values ($1, 0, 0, clock_timestamp() - interval '1 minute', '', 0, '')`,
    ["late"],
  );
  await run("insert into events.bus_offset (consumer_group, topic, partition) values ($1, $2, 0)", [
    WEBHOOK_GROUP,
    "late",
  ]);
  return {
    [Symbol.asyncDispose]: async () =>
      void (await run("delete from events.bus_offset where topic = $1", ["late"])),
  };
}

test("imports with webhooks pause while events are read late, without a place, and end although that lasts", async () => {
  await using parts = new AsyncDisposableStack();
  parts.use(await letEventsBeLate());
  // More than run at the same time.
  const paused = await Promise.all([startImport(true), startImport(true), startImport(true)]);
  await expect
    .poll(async () =>
      (await Promise.all(paused.map(({ action }) => action()))).map(({ status }) => status),
    )
    .toEqual(paused.map(() => AsyncActionStatus.IN_PROGRESS));
  const other = await startImport(false);
  expect(await other.ended()).toBeLessThan(4_000);
  for (const { action } of paused) expect(await action()).toMatchObject({ processed: 0n });
  for (const { ended } of paused) expect(await ended()).toBeGreaterThan(5_000);
  expect(platform.errors).toEqual([]);
});

test("imports with webhooks do not pause when events have been read", async () => {
  const { ended } = await startImport(true);
  expect(await ended()).toBeLessThan(4_000);
});

test("bulk work does not pause while Kafka cannot be reached", async () => {
  await using database = await emptyDatabase();
  const bus = await createKafkaEventBus({
    kafka: { brokers: ["127.0.0.1:1"] },
    url: database.url,
    onError: () => {},
  });
  try {
    await expect(bus.backlogs?.()).rejects.toThrow("ECONNREFUSED");
    expect(await createBulkPause(bus)(0)).toBe(0);
  } finally {
    await bus.close(1_000);
  }
});
