import { createPgEventBus } from "@scrip/events";
import { createDatabase } from "@scrip/postgres";
import { emptyDatabase, testDatabase } from "@scrip/testing";
import { checkRedemptionEvents } from "@scrip/voucher/invariants";
import { MIGRATIONS, ROLE, SCHEMA } from "@scrip/voucher/service";
import { expect, test } from "vitest";

import { readPublished } from "../src/published-events.ts";

const HOUR_MS = 3_600_000;

test("reads published events, and knows since when all of them are retained", async () => {
  await using database = await emptyDatabase();
  const bus = await createPgEventBus({ url: database.url, onError: () => {} });
  const db = createDatabase({
    url: database.url,
    schema: "events",
    role: "scrip_events",
    poolSize: 1,
    onError: () => {},
  });
  await bus.publish(
    [1, 2, 3].map((nth) => ({
      id: `event_${nth}`,
      topic: "scrip.redemptions.v1",
      key: `v_${nth}`,
      projectId: nth === 3 ? "proj_2" : "proj_1",
      type: "scrip.events.v1.RedemptionMade",
      payload: Buffer.from(`payload ${nth}`),
      headers: {},
      occurredAt: new Date(),
    })),
  );
  const published = await readPublished(db, "proj_1");
  expect(published?.since).toBe(0);
  const payloads = await Array.fromAsync(published?.payloads ?? []);
  expect(payloads.map((payload) => Buffer.from(payload).toString())).toEqual([
    "payload 1",
    "payload 2",
  ]);

  await db.query("delete from bus_batch");
  const later = await readPublished(db, "proj_1");
  expect(Math.abs(Date.now() - (later?.since ?? 0))).toBeLessThan(HOUR_MS);
  await db.close();
  await bus.close(5_000);
});

test("misses no events that the log has dropped, and all others", async () => {
  await using db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
  const now = Date.now();
  const id = `r_${(now - 2 * HOUR_MS).toString(16).padStart(12, "0")}000000`;
  await db.query(
    `insert into redemption (project_id, id, voucher_id, created_at, status, channel_id, channel_type, request_id)
     values ('proj_1', $1, 'v_1', now(), 'SUCCEEDED', 'app', 'API', 'v-1')`,
    [id],
  );
  const check = async (publishedSince: number) => {
    const published = (async function* (): AsyncGenerator<Uint8Array> {})();
    const request = { projectId: "proj_1", published, publishedSince, now };
    return (await checkRedemptionEvents(db, request)).violations;
  };
  expect(await check(0)).toEqual([
    { subject: id, details: "has no event in the outbox or the event log" },
  ]);
  expect(await check(now - 3 * HOUR_MS)).toHaveLength(1);
  expect(await check(now - HOUR_MS)).toEqual([]);
});
