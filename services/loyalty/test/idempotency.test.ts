import type { Call, RequestIdempotency } from "@scrip/rpc";
import { asAdmin } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { newCall } from "./builders.ts";
import { startLoyalty, untilBlocked } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { customers, segments, db, replica } = loyalty;

let keys = 0;
const newKey = (): RequestIdempotency => ({
  key: `key-${(keys += 1)}`,
  requestHash: Buffer.from("hash"),
});

/** A call with a key, and whether its last response was a replay. */
const keyedCall = (overrides: Partial<Call> = {}) => {
  const state = { replayed: false };
  const onReplay = (): void => {
    state.replayed = true;
  };
  return { state, call: newCall({ idempotency: newKey(), onReplay, ...overrides }) };
};

const countCustomers = async (call: Call): Promise<bigint> =>
  (await customers.listCustomers({}, { ...call, idempotency: undefined })).total;

const keyOf = (error: any): unknown => error.key ?? error.details?.[0]?.value?.key ?? error;

const rejectionOf = (work: Promise<unknown>): Promise<unknown> => work.catch(keyOf);

test("returns the stored response to a repetition, and creates one customer", async () => {
  const { call, state } = keyedCall();
  const first = await customers.createCustomer({ sourceId: "ada", name: "Ada" }, call);
  expect(state.replayed).toBe(false);

  expect(
    await customers.createCustomer(
      { sourceId: "ada", name: "Ada" },
      { ...call, now: call.now + 1 },
    ),
  ).toEqual(first);

  expect(state.replayed).toBe(true);
  expect(await countCustomers(call)).toBe(1n);
});

test("returns a stored error with the id of the first request", async () => {
  const { call, state } = keyedCall({ requestId: "v-000000000000000001" });
  const update = (requestId: string) =>
    customers.updateCustomer({ customerId: "cust_unknown" }, { ...call, requestId });
  expect(await rejectionOf(update("v-000000000000000001"))).toBe("not_found");

  const repeated: any = await update("v-000000000000000002").catch((thrown: unknown) => thrown);

  expect(state.replayed).toBe(true);
  expect(repeated.details[0].value).toMatchObject({
    key: "not_found",
    requestId: "v-000000000000000001",
  });
});

test("rejects a key that was used with another request", async () => {
  const { call } = keyedCall();
  await customers.createCustomer({ sourceId: "ada", name: "Ada" }, call);
  const { key } = call.idempotency!;
  const other = { ...call, idempotency: { key, requestHash: Buffer.from("other") } };

  expect(await rejectionOf(customers.createCustomer({ sourceId: "ada", name: "Eve" }, other))).toBe(
    "idempotency_key_reused",
  );
  expect(await countCustomers(call)).toBe(1n);
});

test("keeps the keys of projects apart", async () => {
  const { call } = keyedCall();
  const other = newCall({ idempotency: call.idempotency });

  const [one, two] = await Promise.all([
    customers.createCustomer({ sourceId: "ada", name: "Ada" }, call),
    customers.createCustomer({ sourceId: "ada", name: "Ada" }, other),
  ]);

  expect(one.id).not.toBe(two.id);
});

test("creates one customer for concurrent requests to two processes", async () => {
  const { call } = keyedCall();
  const processes = [customers, replica()];

  const results = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      processes[index % 2]!.createCustomer({ sourceId: "ada", name: "Ada" }, call).then(
        ({ id }) => id,
        keyOf,
      ),
    ),
  );

  const ids = new Set(results.filter((result) => result !== "idempotency_in_progress"));
  expect(ids.size).toBe(1);
  expect([...ids][0]).toMatch(/^cust_/);
  expect(await countCustomers(call)).toBe(1n);
});

test("rejects a duplicate while the request runs, and lets it run as soon as its process has ended", async () => {
  const { call } = keyedCall();
  const lock = Promise.withResolvers<void>();
  const { id } = await customers.createCustomer(
    { sourceId: "ada" },
    { ...call, idempotency: undefined },
  );
  const locked = Promise.withResolvers<void>();
  const holder = db.transaction(async (tx) => {
    await tx.query("select 1 from customer where id = $1 for update", [id]);
    locked.resolve();
    await lock.promise;
  });
  await locked.promise;
  const dying = customers.createCustomer({ sourceId: "ada", name: "A" }, call).catch(() => "died");
  await untilBlocked(db, dying);

  expect(await rejectionOf(replica().createCustomer({ sourceId: "ada", name: "A" }, call))).toBe(
    "idempotency_in_progress",
  );
  // As the death of the process does: Postgres ends its sessions.
  await asAdmin(db.url, (client) =>
    client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    ),
  );
  expect(await dying).toBe("died");
  lock.resolve();
  await holder;

  expect(await replica().createCustomer({ sourceId: "ada", name: "A" }, call)).toMatchObject({
    id,
    name: "A",
  });
});

test("returns stored responses while other requests with keys use their share of the connections", async () => {
  const { call, state } = keyedCall();
  const first = await customers.createCustomer({ sourceId: "ada" }, call);
  const lock = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holder = db.transaction(async (tx) => {
    await tx.query("select 1 from customer where id = $1 for update", [first.id]);
    locked.resolve();
    await lock.promise;
  });
  await locked.promise;
  const waiting = Array.from({ length: db.size }, () =>
    customers.createCustomer(
      { sourceId: "ada", name: "A" },
      { ...call, idempotency: newKey(), onReplay: undefined },
    ),
  );
  await untilBlocked(db, Promise.all(waiting));

  expect(await customers.createCustomer({ sourceId: "ada" }, call)).toEqual(first);

  expect(state.replayed).toBe(true);
  lock.resolve();
  await holder;
  await Promise.all(waiting);
});

test("stores no error that a repetition may not get, and keeps nothing of the request", async () => {
  const { call } = keyedCall();
  const lock = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const { id } = await customers.createCustomer(
    { sourceId: "ada" },
    { ...call, idempotency: undefined },
  );
  const holder = db.transaction(async (tx) => {
    await tx.query("select 1 from customer where id = $1 for update", [id]);
    locked.resolve();
    await lock.promise;
  });
  await locked.promise;
  // The lock timeout of a statement is a second.
  await expect(customers.createCustomer({ sourceId: "ada", name: "A" }, call)).rejects.toThrow(
    "lock timeout",
  );
  lock.resolve();
  await holder;

  expect(await customers.createCustomer({ sourceId: "ada", name: "A" }, call)).toMatchObject({
    name: "A",
  });
});

test("shows a definition that a request with a key created immediately", async () => {
  const { call } = keyedCall();
  const unkeyed = { ...call, idempotency: undefined };
  const ada = await customers.createCustomer({ sourceId: "ada", name: "Ada" }, unkeyed);
  expect((await segments.listCustomerSegments({ customerId: ada.id }, unkeyed)).data).toEqual([]);

  const { id } = await segments.createSegment(
    { name: "s", type: "static", customers: [ada.id] },
    call,
  );

  const { data } = await segments.listCustomerSegments({ customerId: ada.id }, unkeyed);
  expect(data.map((segment) => segment.id)).toEqual([id]);
});

test("runs again after 48 hours", async () => {
  const { call, state } = keyedCall();
  const first = await customers.createCustomer({ sourceId: "ada", name: "Ada" }, call);
  await expire(call);

  const second = await customers.createCustomer({ sourceId: "ada", name: "Ada" }, call);

  expect(state.replayed).toBe(false);
  expect(first.updatedAt).toBeUndefined();
  expect(second.updatedAt).toBeDefined();
});

const expire = ({ idempotency }: Call): Promise<unknown> =>
  db.query("update stored_request set created_at = now() - interval '49 hours' where key = $1", [
    idempotency!.key,
  ]);
