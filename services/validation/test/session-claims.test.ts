import { newId, newRequestId } from "@scrip/ids";
import { holdProcessLock } from "@scrip/postgres";
import type { Call } from "@scrip/rpc";
import { testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { claimSessionObjects, rejectWhileClaimed } from "../src/session/session-claim.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
const living = await holdProcessLock({ url: db.url, name: "living" });
afterAll(async () => {
  await living[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});
const deps = { db, processId: living.id };

const callOf = (beside: Partial<Call> = {}): Call => ({
  project: { id: "proj_1", timeZone: "UTC", caseSensitiveCodes: true },
  requestId: newRequestId(),
  deadline: Date.now() + 60_000,
  now: Date.now(),
  caller: { side: "server", id: "app_1" },
  ...beside,
});

const idempotent = (key: string) =>
  callOf({ idempotency: { key, requestHash: new Uint8Array([1]) } });

const sessionOf = (...objectIds: string[]) => ({ sessionKey: newId("ssn"), objectIds });

test("rejects a second request on a voucher of the session until the first one ends", async () => {
  const session = sessionOf("v_1", "v_2");
  const first = await claimSessionObjects(deps, callOf(), session);
  const again = { ...session, objectIds: ["v_3", "v_2"] };
  const rejection = {
    key: "multiple_requests",
    options: { details: `Session ${session.sessionKey} takes part in another request` },
  };
  await expect(claimSessionObjects(deps, callOf(), again)).rejects.toMatchObject(rejection);
  await expect(rejectWhileClaimed(deps, callOf(), again)).rejects.toMatchObject(rejection);

  // A partial claim is released, and vouchers outside the session are free.
  const other = await claimSessionObjects(deps, callOf(), { ...session, objectIds: ["v_3"] });
  const stranger = await claimSessionObjects(deps, callOf(), sessionOf("v_1"));
  await first.release();
  await rejectWhileClaimed(deps, callOf(), { ...session, objectIds: ["v_1", "v_2"] });
  const third = await claimSessionObjects(deps, callOf(), {
    ...session,
    objectIds: ["v_1", "v_2"],
  });
  for (const claim of [other, stranger, third]) await claim.release();
  expect((await db.query("select from session_claim")).rowCount).toBe(0);
});

test("rejects a repetition of the running request with idempotency_in_progress", async () => {
  const session = sessionOf("v_1");
  const first = await claimSessionObjects(deps, idempotent("same"), session);
  await expect(claimSessionObjects(deps, idempotent("same"), session)).rejects.toMatchObject({
    key: "idempotency_in_progress",
  });
  await expect(claimSessionObjects(deps, idempotent("other"), session)).rejects.toMatchObject({
    key: "multiple_requests",
  });
  await first.release();
});

test("expires the claim of a request that died, and deletes it with any other", async () => {
  const session = sessionOf("v_1");
  await claimSessionObjects(deps, callOf(), session);
  await db.query("update session_claim set claimed_until = now() - interval '1 second'");
  await rejectWhileClaimed(deps, callOf(), session);
  const taken = await claimSessionObjects(deps, callOf(), session);
  await taken.release();

  await claimSessionObjects(deps, callOf(), session);
  await db.query("update session_claim set claimed_until = now() - interval '1 hour'");
  const other = await claimSessionObjects(deps, callOf(), sessionOf("v_9"));
  await other.release();
  expect((await db.query("select from session_claim")).rowCount).toBe(0);
});

test("ends the claim of a killed process two seconds after it began", async () => {
  const killed = await holdProcessLock({ url: db.url, name: "killed" });
  const session = sessionOf("v_1");
  await claimSessionObjects({ db, processId: killed.id }, callOf(), session);
  await db.query("update session_claim set claimed_until = now() + interval '12 seconds'");
  await expect(rejectWhileClaimed(deps, callOf(), session)).rejects.toMatchObject({
    key: "multiple_requests",
  });
  await killed[Symbol.asyncDispose]();
  await expect.poll(() => rejectWhileClaimed(deps, callOf(), session)).toBeUndefined();
  const taken = await claimSessionObjects(deps, callOf(), session);
  await db.query("update session_claim set claimed_until = now() + interval '12 seconds'");
  await expect(claimSessionObjects(deps, callOf(), session)).rejects.toMatchObject({
    key: "multiple_requests",
  });
  await taken.release();
});

test("lets exactly one of many concurrent requests claim all vouchers of a session", async () => {
  const { sessionKey } = sessionOf();
  const ids = Array.from({ length: 10 }, (_, index) => `v_${index}`);
  const claims = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      claimSessionObjects(deps, callOf(), {
        sessionKey,
        objectIds: index % 2 === 0 ? ids : ids.toReversed(),
      }),
    ),
  );
  const taken = claims.filter(({ status }) => status === "fulfilled");
  expect(taken.length).toBe(1);
});

test("a repeated release does not end a later claim of the same request", async () => {
  const session = sessionOf("v_1", "v_2");
  const first = await claimSessionObjects(deps, idempotent("same"), session);
  await first.release();
  const later = await claimSessionObjects(deps, idempotent("same"), session);
  await first.release();
  await expect(claimSessionObjects(deps, callOf(), session)).rejects.toMatchObject({
    key: "multiple_requests",
  });
  await later.release();
  await (await claimSessionObjects(deps, callOf(), session)).release();
});
