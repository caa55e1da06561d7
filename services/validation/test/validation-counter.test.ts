import { fromBinary } from "@bufbuild/protobuf";
import { newId } from "@scrip/ids";
import type { Database } from "@scrip/postgres";
import { ValidationsCountedSchema } from "@scrip/proto/scrip/events/v1/validations_pb";
import { testDatabase } from "@scrip/testing";
import { afterAll, beforeEach, expect, test } from "vitest";

import type { EvaluatedRedeemable } from "../src/domain/decision/decision.ts";
import type { Redeemable } from "../src/domain/input/redeemable.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { startValidationCounter } from "../src/validation/validation-counter.ts";
import {
  buildCampaign,
  buildTier,
  buildVoucher,
  tierRedeemable,
  voucherRedeemable,
} from "./builders.ts";
import { newProject } from "./deps.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(() => db.query("delete from outbox"));

test("publishes one event per project with the outcomes of each campaign by local days", async () => {
  const [paris, utc] = [newProject(), newProject()];
  const lateIn = (zone: string) => ({
    project: { ...paris().project, timeZone: zone },
    now: Date.parse("2026-03-01T23:30:00Z"),
  });
  await withCounter(db, ({ count }) => {
    const [one, two] = [voucherOf("camp_1"), tierOf("camp_2")];
    count(paris(lateIn("Europe/Paris")), [applicable(one), inapplicable(two), skipped(one)]);
    count(paris(lateIn("UTC")), [applicable(one)]);
    count(paris(lateIn("UTC")), [applicable(one), applicable(two), inapplicable(one)]);
    count(utc({ now: Date.parse("2026-03-05T12:00:00Z") }), [applicable(one)]);
  });
  const events = await publishedEvents();
  expect(events.map(({ topic, key, project_id }) => [topic, key, project_id])).toEqual(
    [paris, utc].map((call) => ["scrip.validations.v1", call().project.id, call().project.id]),
  );
  expect(events.map(({ campaigns }) => campaigns)).toEqual([
    [
      ["camp_1", "2026-03-02", 1n, 0n],
      ["camp_2", "2026-03-02", 0n, 1n],
      ["camp_1", "2026-03-01", 2n, 1n],
      ["camp_2", "2026-03-01", 1n, 0n],
    ],
    [["camp_1", "2026-03-05", 1n, 0n]],
  ]);
});

test("counts neither vouchers without a campaign nor unknown redeemables, and then writes nothing", async () => {
  const call = newProject()();
  let statements = 0;
  await withCounter({ ...db, query: () => Promise.reject((statements += 1)) }, ({ count }) => {
    count(call, [applicable(voucherRedeemable(buildVoucher({ campaign: null })))]);
    count(call, [inapplicable({ object: "promotion_tier", id: "promo_1", tier: null })]);
  });
  expect(statements).toBe(0);
});

test("sends counts again under the same id after a statement that failed when it had committed", async () => {
  const errors: Error[] = [];
  let fails = true;
  const unreliable: Pick<Database, "query"> = {
    async query(...statement: Parameters<Database["query"]>) {
      const result = await db.query(...statement);
      if (!fails) return result as never;
      fails = false;
      throw new Error("the connection broke");
    },
  };
  const call = newProject()();
  await withCounter(
    { ...db, ...unreliable },
    ({ count }) => count(call, [applicable(voucherOf("camp_1"))]),
    (error) => errors.push(error),
  );
  const events = await publishedEvents();
  expect(events).toHaveLength(2);
  expect(events[0]).toEqual(events[1]);
  expect(errors.map(({ message }) => message)).toEqual([
    "counted validations could not be published",
  ]);
});

test("limits the campaigns that wait in memory, and those of one event", async () => {
  const call = newProject()();
  await withCounter(db, ({ count }) => {
    for (let i = 0; i < 20_500; i += 1) count(call, [applicable(voucherOf(`camp_${i}`))]);
    count(call, [applicable(voucherOf("camp_0"))]);
  });
  const events = await publishedEvents();
  expect(events.map(({ campaigns }) => campaigns.length)).toEqual(Array(20).fill(1_000));
  expect(events[0]?.campaigns[0]?.slice(2)).toEqual([2n, 0n]);
});

async function withCounter(
  database: Database,
  work: (counter: ReturnType<typeof startValidationCounter>) => void,
  onError: (error: Error) => unknown = () => {},
): Promise<void> {
  await using counter = startValidationCounter({ db: database, onEvents: () => {}, onError });
  work(counter);
}

async function publishedEvents() {
  type Row = { id: string; topic: string; key: string; project_id: string; payload: Buffer };
  const { rows } = await db.query<Row>(
    "select id, topic, key, project_id, payload from outbox order by seq",
  );
  return rows.map(({ payload, ...row }) => ({
    ...row,
    campaigns: fromBinary(ValidationsCountedSchema, payload).campaigns.map(
      ({ campaignId, day, succeeded, failed }) => [campaignId, day, succeeded, failed] as const,
    ),
  }));
}

const voucherOf = (campaignId: string): Redeemable =>
  voucherRedeemable(buildVoucher({ campaign: buildCampaign({ id: campaignId }) }));
const tierOf = (campaignId: string): Redeemable =>
  tierRedeemable(buildTier({ id: newId("promo"), campaign: buildCampaign({ id: campaignId }) }));

// The counter reads no more than these properties.
const evaluated =
  (status: EvaluatedRedeemable["status"]) =>
  (redeemable: Redeemable): EvaluatedRedeemable =>
    ({ status, redeemable, position: 0 }) as EvaluatedRedeemable;
const applicable = evaluated("APPLICABLE");
const inapplicable = evaluated("INAPPLICABLE");
const skipped = evaluated("SKIPPED");
