import { newId } from "@scrip/ids";
import type { AdjustPointsRequestSchema } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { asAdmin } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { runNightsOfProjects } from "../src/jobs/nightly.ts";
import type { Init } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { earningIn } from "./earning-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db } = loyalty;
const { setUp, join, earn } = earningIn(loyalty);
const deps = createDeps(db);
const PENDING = {
  event: "order.paid",
  loyalty: { type: "FIXED", points: 5n },
  pendingPoints: { periodType: "DAY", periodValue: 1n },
};
const PAID_AT = Date.parse("2026-03-01T12:00:00Z");

/** A project whose night of 2 March activates the points of a member. */
async function dueProject({ timeZone = "UTC", now = "2026-03-05T00:00:00Z" } = {}) {
  const program = await setUp([PENDING]);
  const { projectId } = program;
  await db.query(
    `insert into project (project_id, version, deleted, time_zone, first_weekday, case_sensitive_codes, sandbox_now)
     values ($1, 1, false, $2, 1, true, $3)`,
    [projectId, timeZone, new Date(now)],
  );
  const { customerId } = await join(program);
  await earn([program.paid(customerId, 100n, PAID_AT)]);
  const types = async () => (await program.ledger()).map(({ type }) => type);
  return { ...program, types };
}

const EXPECTED = ["PENDING_POINTS_ACTIVATION"];

test("the nights of a project that fail are reported and repeated, and those of others run", async () => {
  const projects = [await dueProject(), await dueProject(), await dueProject()];
  const failing = projects[0]!;
  await asAdmin(db.url, (admin) =>
    admin.query(`
      create function loyalty.fail() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
      create trigger broken before insert on loyalty.ledger_entry for each row
        when (new.project_id = '${failing.projectId}') execute function loyalty.fail()`),
  );
  const errors: Error[] = [];
  const report = (error: Error) => void errors.push(error);
  await runNightsOfProjects(deps, report);
  expect(errors).toMatchObject([
    {
      message: `the nightly jobs of project ${failing.projectId} failed`,
      cause: { message: expect.stringMatching(/^cards failed: 1, /), cause: { message: "broken" } },
    },
  ]);
  expect(await Promise.all(projects.map(({ types }) => types()))).toEqual([[], EXPECTED, EXPECTED]);
  await asAdmin(db.url, (admin) => admin.query("drop trigger broken on loyalty.ledger_entry"));
  await Promise.all([1, 2, 3].map(() => runNightsOfProjects(deps, report)));
  expect(errors).toHaveLength(1);
  expect(await Promise.all(projects.map(({ types }) => types()))).toEqual(
    projects.map(() => EXPECTED),
  );
  expect(await failing.violations()).toEqual([]);
});

test.each([
  ["+02:00", "2026-03-01T21:59:59Z", []],
  ["+02:00", "2026-03-01T22:00:00Z", EXPECTED],
  ["-03:30", "2026-03-02T03:29:59Z", []],
  ["-03:30", "2026-03-02T03:30:00Z", EXPECTED],
  ["Pacific/Kiritimati", "2026-03-02T10:00:00Z", EXPECTED],
  // PostgreSQL does not know this name.
  ["VST", "2026-03-01T17:00:00Z", EXPECTED],
])("begins nights at midnight in %s: at %s", async (timeZone, now, expected) => {
  const project = await dueProject({ timeZone, now });
  await runNightsOfProjects(deps, () => {});
  expect(await project.types()).toEqual(expected);
});

test("an unknown time zone is reported, and the nights of other projects run", async () => {
  const unknown = await dueProject();
  await db.query("update project set time_zone = 'No/Where' where project_id = $1", [
    unknown.projectId,
  ]);
  const known = await dueProject();
  const errors: Error[] = [];
  await runNightsOfProjects(deps, (error) => void errors.push(error));
  expect(errors).toMatchObject([{ message: "the time zone No/Where is unknown" }]);
  expect([await unknown.types(), await known.types()]).toEqual([[], EXPECTED]);
  await db.query("delete from project where project_id = $1", [unknown.projectId]);
});

test("a night that waits for a lock does not delay the nights of other projects", async () => {
  const [waiting, ...others] = [await dueProject(), await dueProject(), await dueProject()];
  let nights: Promise<void> | undefined;
  await db.transaction(async (tx) => {
    await tx.query("select from loyalty_card where project_id = $1 for update", [
      waiting.projectId,
    ]);
    nights = runNightsOfProjects(deps, (error) => {
      throw error;
    });
    for (const { types } of others) await expect.poll(types, { timeout: 60_000 }).toEqual(EXPECTED);
    expect(await waiting.types()).toEqual([]);
  });
  await nights;
  expect(await waiting.types()).toEqual(EXPECTED);
});

test("a card that fails does not keep the others of its project waiting, nor the later steps", async () => {
  const project = await dueProject();
  const { projectId, campaignId, call } = project;
  const full = await join(project);
  const card = { projectId, cardId: full.cardId, initialPoints: 0n, campaignId };
  const add = (points: bigint, change: Init<typeof AdjustPointsRequestSchema>) =>
    loyalty.cards.adjustPoints({ card, operationId: newId("vtx"), points, ...change }, call);
  await add(1n, { expirationType: "NON_EXPIRING" });
  await add(9n, { expirationType: "CUSTOM_DATE", expirationDate: "2026-03-01" });
  await earn([project.paid(full.customerId, 100n, PAID_AT)]);
  // No request makes an entry that the card has no room for.
  const grown = [projectId, full.cardId, 10_000_000_000_000n];
  await loyalty.db.query(
    "update pending_points set points = points + $3 where project_id = $1 and card_id = $2",
    grown,
  );
  await loyalty.db.query(
    "update loyalty_card set pending_points = pending_points + $3 where project_id = $1 and id = $2",
    grown,
  );
  const errors: Error[] = [];
  await runNightsOfProjects(deps, (error) => void errors.push(error));
  expect(errors).toMatchObject([
    {
      cause: {
        message: `cards failed: 1, the last one is ${full.cardId}`,
        cause: { key: "invalid_amount" },
      },
    },
  ]);
  const types = await project.types();
  expect(types.toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual([
    "PENDING_POINTS_ACTIVATION",
    "POINTS_ADDITION",
    "POINTS_ADDITION",
    "POINTS_EXPIRATION",
  ]);
  expect(await project.violations()).toEqual([]);
});

test("stops between batches when it is over, and continues later", async () => {
  const project = await dueProject();
  await runNightsOfProjects(
    deps,
    () => {},
    () => true,
  );
  expect(await project.types()).toEqual([]);
  await runNightsOfProjects(deps, () => {});
  expect(await project.types()).toEqual(EXPECTED);
});
