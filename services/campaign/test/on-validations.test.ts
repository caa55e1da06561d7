import type { DeliveredEvent } from "@scrip/events";
import { ValidationsCountedSchema } from "@scrip/proto/scrip/events/v1/validations_pb";
import type { Call } from "@scrip/rpc";
import { afterAll, expect, test } from "vitest";

import { onValidations, VALIDATIONS_TOPIC } from "../src/events/on-validations.ts";
import { deliver, newCall, newCoupons, newEvent, newPromotion } from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { campaigns, db } = service;
const handle = (events: readonly DeliveredEvent[]) => deliver(onValidations(db), events);

test("adds the validations of all processes once when each event is delivered twice", async () => {
  const call = newCall();
  const [{ id }, { id: other }] = [
    await newCoupons(service, call),
    await newPromotion(service, call),
  ];
  const events = [
    counted(call, [id, "2026-03-01", 3n, 1n], [other, "2026-03-01", 1n, 0n]),
    counted(call, [id, "2026-03-02", 5n, 0n], [id, "2026-03-04", 0n, 7n]),
    counted(call, [id, "2026-03-01", 10n, 0n]),
  ];
  await handle([...events, ...events]);
  for (const event of events.toReversed()) await handle([event]);

  expect(await figuresOf(call, id)).toEqual([26n, 18n, 8n]);
  expect(await figuresOf(call, other)).toEqual([1n, 1n, 0n]);
  for (const [startDate, endDate, figures] of [
    ["2026-03-02", "2026-03-03", [5n, 5n, 0n]],
    ["2026-03-01", "2026-03-01", [14n, 13n, 1n]],
    ["2026-03-03", undefined, [7n, 0n, 7n]],
    [undefined, "2026-03-02", [19n, 18n, 1n]],
    ["2026-03-05", undefined, [0n, 0n, 0n]],
  ] as const) {
    const days = { ...(startDate && { startDate }), ...(endDate && { endDate }) };
    expect(await figuresOf(call, id, days)).toEqual(figures);
  }
});

test("loses no count when handlers add to the same campaigns concurrently", async () => {
  const call = newCall();
  const ids = [await newCoupons(service, call), await newCoupons(service, call)].map(
    ({ id }) => id,
  );
  const days = ids.map((id) => [id, "2026-03-01", 1n, 2n] as const);
  await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      handle([counted(call, ...(i % 2 === 0 ? days : days.toReversed()))]),
    ),
  );
  for (const id of ids) expect(await figuresOf(call, id)).toEqual([36n, 12n, 24n]);
});

test("skips campaigns that do not exist, and those of other projects", async () => {
  const call = newCall();
  const { id } = await newCoupons(service, call);
  const foreign = await newCoupons(service, newCall());
  await handle([
    counted(
      call,
      ["camp_unknown", "2026-03-01", 1n, 1n],
      [foreign.id, "2026-03-01", 1n, 1n],
      [id, "2026-03-01", 1n, 1n],
    ),
  ]);
  const { rows } = await db.query(
    "select campaign_id, succeeded, failed from campaign_validation where project_id = $1 or campaign_id = $2",
    [call.project.id, foreign.id],
  );
  expect(rows).toEqual([{ campaign_id: id, succeeded: 1n, failed: 1n }]);
});

type Days = { readonly startDate?: string; readonly endDate?: string };

async function figuresOf(call: Call, campaignId: string, days: Days = {}) {
  const summary = await campaigns.getCampaignSummary({ campaignId, ...days }, call);
  return [summary.validations, summary.validationsSucceeded, summary.validationsFailed];
}

const counted = (
  { project: { id: projectId } }: Call,
  ...days: readonly (readonly [string, string, bigint, bigint])[]
): DeliveredEvent =>
  newEvent(
    ValidationsCountedSchema,
    { projectId, topic: VALIDATIONS_TOPIC, key: projectId },
    {
      projectId,
      campaigns: days.map(([campaignId, day, succeeded, failed]) => ({
        campaignId,
        day,
        succeeded,
        failed,
      })),
    },
  );
