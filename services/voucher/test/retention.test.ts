import { newId, timePart } from "@scrip/ids";
import { lockWaits } from "@scrip/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { startExplanationRemoval } from "../src/jobs/remove-old-explanations.ts";
import { deleteFailures, type Expiry } from "../src/store/expired-failures.ts";
import { findRemovals, removeExplanations } from "../src/store/explanations.ts";
import {
  committedRedemptions,
  createCommit,
  createDiscountVoucher,
  rejectionOf,
  stackOf,
  voucherPart,
} from "./builders.ts";
import { checkInvariants, NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const commit = createCommit(service);

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const START_MS = Date.now();
const now = { seconds: BigInt(NOON / 1000), nanos: 0 };
const explanation = {
  status: "APPLICABLE",
  steps: [{ kind: "quantity", passed: true, message: "" }],
};

beforeAll(async () => {
  await service.db.query(
    `insert into project (project_id, version, deleted, time_zone, first_weekday, case_sensitive_codes)
     values ($1, 1, false, 'UTC', 1, true), ($2, 1, false, 'UTC', 1, true)`,
    [service.projectId, newId("proj")],
  );
});

beforeEach(async () => {
  await service.db.query("delete from explanation_removal");
});

/** Redeems a voucher that can be redeemed once as often as this. */
async function redeem(times: number): Promise<{ succeeded: string; failed: string[] }> {
  const voucher = await createDiscountVoucher(service, { redemption: { quantity: 1n } });
  const outcomes = [];
  for (let time = 0; time < times; time += 1) {
    outcomes.push(
      ...(await commit(stackOf(service, [voucherPart(voucher, { explanation })], { now }))),
    );
  }
  const [first, ...others] = outcomes;
  return {
    succeeded: committedRedemptions(first)[0]?.id ?? "",
    failed: others.map((outcome) => rejectionOf(outcome).resourceId ?? ""),
  };
}

const rollBack = (redemptionId: string) =>
  service.redemptions.commitRollbacks(
    { commands: [{ projectId: service.projectId, redemptionId, now }] },
    service.call(),
  );

const listIds = async (): Promise<string[]> => {
  const { redemptions } = await service.redemptions.listRedemptions(
    { limit: 100n },
    service.call(),
  );
  return redemptions.map(({ id }) => id);
};

const removeNext = (before: string, limit: number) =>
  removeExplanations(service.db, { projectId: service.projectId, before, limit });

const explain = (redemptionId: string) =>
  service.redemptions.getExplanation({ redemptionId }, service.call());

test("removes explanations by their age, and continues where it ended", async () => {
  const { succeeded, failed } = await redeem(3);
  const all = [succeeded, ...failed];
  for (const id of all) expect((await explain(id)).redeemables).toHaveLength(1);

  const yesterday = timePart(START_MS - MINUTE_MS);
  expect(await removeNext(yesterday, 1)).toEqual({ removed: 0, mayBeMore: false });
  expect(await findRemovals(service.db, yesterday)).toEqual([]);

  const later = timePart(Date.now() + MINUTE_MS);
  expect(await findRemovals(service.db, later)).toEqual([service.projectId]);
  let removed = 0;
  let chunks = 0;
  for (let mayBeMore = true; mayBeMore; chunks += 1) {
    const chunk = await removeNext(later, 1);
    removed += chunk.removed;
    mayBeMore = chunk.mayBeMore;
  }
  expect(removed).toBe(all.length);
  expect(chunks).toBeGreaterThan(1);
  expect(await findRemovals(service.db, later)).toEqual([]);
  for (const id of all) expect((await explain(id)).redeemables).toEqual([]);
  await checkInvariants(service);
});

test("removes the explanation of a redemption that a request is updating", async () => {
  const { succeeded } = await redeem(1);
  const removing = await service.db.transaction(async (tx) => {
    await tx.query("update redemption set metadata = '{}' where project_id = $1 and id = $2", [
      service.projectId,
      succeeded,
    ]);
    const promise = removeNext(timePart(Date.now() + MINUTE_MS), 100);
    await expect.poll(() => lockWaits(service.db.url)).toBeGreaterThan(0);
    return { promise };
  });
  expect(await removing.promise).toMatchObject({ removed: 1 });
  expect((await explain(succeeded)).redeemables).toEqual([]);
});

test("leaves a project to the process that removes its explanations", async () => {
  const { succeeded } = await redeem(1);
  const later = timePart(Date.now() + MINUTE_MS);
  await service.db.transaction(async (tx) => {
    await tx.query("select from project where project_id = $1 for no key update", [
      service.projectId,
    ]);
    expect(await removeNext(later, 100)).toEqual({ removed: 0, mayBeMore: false });
  });
  expect((await explain(succeeded)).redeemables).toHaveLength(1);
  expect(await removeNext(later, 100)).toMatchObject({ removed: 1 });
});

test("removes explanations in the background, in the projects that have redemptions", async () => {
  const { succeeded } = await redeem(1);
  const errors: Error[] = [];
  const options = {
    db: service.db,
    keepMs: -2 * DAY_MS,
    metrics: undefined,
    onError: (error: Error) => void errors.push(error),
  };
  await using jobs = new AsyncDisposableStack();
  jobs.use(startExplanationRemoval(options));
  jobs.use(startExplanationRemoval(options));
  await expect.poll(async () => (await explain(succeeded)).redeemables).toEqual([]);
  const { rows } = await service.db.query("select project_id from explanation_removal");
  expect(rows).toEqual([{ project_id: service.projectId }]);
  expect(errors).toEqual([]);
});

test("deletes failed redemptions and rollbacks by their age, in chunks, and nothing else", async () => {
  const { succeeded, failed } = await redeem(4);
  await rollBack(succeeded);
  await rollBack(succeeded);
  const all = await listIds();
  const failures = all.filter((id) => /^rr?f_/.test(id));
  expect(failures).toEqual(expect.arrayContaining(failed));
  expect(failures.filter((id) => id.startsWith("rrf_"))).toHaveLength(1);

  const remove = (table: Expiry["table"], before: number) =>
    deleteFailures(service.db, { table, before, limit: 2 });
  expect(await remove("redemption", START_MS - MINUTE_MS)).toBe(0);
  expect(await remove("redemption_rollback", START_MS - MINUTE_MS)).toBe(0);
  expect(await listIds()).toEqual(all);

  let deleted = 2;
  while (deleted === 2) deleted = await remove("redemption", Date.now() + MINUTE_MS);
  expect(await remove("redemption_rollback", Date.now() + MINUTE_MS)).toBe(1);
  expect(await listIds()).toEqual(all.filter((id) => !failures.includes(id)));
  await expect(explain(failed[0] ?? "")).rejects.toThrow("Resource not found");
  await checkInvariants(service);
});
