import { create } from "@bufbuild/protobuf";
import { toErrorResponse } from "@scrip/errors";
import { VoucherSchema, VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { startTcpProxy } from "@scrip/testing";
import { expect, test } from "vitest";

import { startBlackHole } from "../../test/black-hole.ts";
import { gatewayTokens, serveVouchers } from "../../test/voucher-server.ts";
import { generateServiceKey } from "../auth/service-token.ts";
import { type Call, serviceCall } from "../call/call.ts";
import { clientOf } from "../call/client.ts";
import { createBalancedTransport } from "./balanced-transport.ts";
import { createServiceTransport } from "./grpc-transport.ts";

const keys = await generateServiceKey();

type Handle = (call: Call) => Promise<void>;

async function startReplica(handle: Handle, { port = 0, drainMs = 0 } = {}) {
  let calls = 0;
  const answer = async (_: object, call: Call) => {
    calls += 1;
    await handle(call);
    return create(VoucherSchema);
  };
  const handlers = { getVoucher: answer, createVoucher: answer };
  const server = await serveVouchers({ keys, handlers, port, drainMs });
  return Object.assign(server, { calls: () => calls });
}

const addressOf = (url: string) => ({ url, host: "127.0.0.1" });

function connect(urls: () => readonly string[]) {
  let retries = 0;
  const down = new Set<string>();
  const transport = createBalancedTransport({
    service: "voucher",
    urls: [],
    resolve: async () => urls().map(addressOf),
    connect: ({ url }) =>
      createServiceTransport({
        baseUrl: url,
        audience: "voucher",
        token: gatewayTokens(keys),
      }),
    onChange: (url, isServing) => void (isServing ? down.delete(url) : down.add(url)),
    onRetry: () => (retries += 1),
  });
  const client = clientOf(VoucherService, transport);
  const keyOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => "served",
      (error: unknown) => toErrorResponse(error, "").error.key,
    );
  const $typeName = "scrip.voucher.v1.GetVoucherRequest";
  return {
    read: (call: Call = serviceCall()) => keyOf(client.getVoucher({ $typeName, code: "A" }, call)),
    write: (call: Call = serviceCall()) => keyOf(client.createVoucher({}, call)),
    retries: () => retries,
    down,
    [Symbol.dispose]: () => transport[Symbol.dispose](),
  };
}

const idle: Handle = async () => {};
/** Ends the process's connections without a response, as a kill does. */
const never = () => new Promise<void>(() => {});

test("takes turns between replicas, and prefers those with fewer calls in progress", async () => {
  const busy = Promise.withResolvers<void>();
  await using first = await startReplica(() => busy.promise);
  await using second = await startReplica(idle);
  using client = connect(() => [first.url, second.url]);
  const waiting = [client.read(), client.read()];
  await expect.poll(() => [first.calls(), second.calls()]).toEqual([1, 1]);
  for (let call = 0; call < 6; call += 1) await client.read();
  expect([first.calls(), second.calls()]).toEqual([1, 7]);
  busy.resolve();
  await Promise.all(waiting);
  for (let call = 0; call < 10; call += 1) await client.read();
  expect([first.calls(), second.calls()]).toEqual([6, 12]);
});

test("leaves out a replica that refuses connections, also for writes, until it is back", async () => {
  await using first = await startReplica(idle);
  const second = await startReplica(idle);
  using client = connect(() => [first.url, second.url]);
  await second[Symbol.asyncDispose]();
  await expect.poll(() => [...client.down]).toEqual([second.url]);
  for (let call = 0; call < 10; call += 1) expect(await client.write()).toBe("served");
  await using again = await startReplica(idle, { port: second.port });
  await expect.poll(() => [...client.down], { timeout: 10_000 }).toEqual([]);
  for (let call = 0; call < 10; call += 1) await client.write();
  expect(again.calls()).toBe(5);
});

test("sends nothing to an address that drops packets while another replica serves", async () => {
  await using hole = await startBlackHole();
  await using healthy = await startReplica(idle);
  using client = connect(() => [hole.url, healthy.url]);
  // The first calls go to both, because neither has reported anything.
  const first = [client.write(), client.write()];
  await expect.poll(() => [...client.down]).toEqual([hole.url]);
  expect(await Promise.all(first)).toEqual(["served", "served"]);
  const retries = client.retries();
  for (let call = 0; call < 10; call += 1) expect(await client.write()).toBe("served");
  expect(client.retries()).toBe(retries);
  expect(healthy.calls()).toBe(12);
});

test("no call fails while each replica restarts, and none is executed twice", async () => {
  let executed = 0;
  const handle: Handle = async () => {
    executed += 1;
    await new Promise((resolve) => setTimeout(resolve, 2));
  };
  const replicas = [await startReplica(handle), await startReplica(handle)];
  using client = connect(() => replicas.map(({ url }) => url));
  const outcomes: string[] = [];
  const done = new AbortController();
  const callers = Array.from({ length: 8 }, async () => {
    while (!done.signal.aborted) outcomes.push(await client.write());
  });
  for (const [at, replica] of [...replicas, ...replicas].entries()) {
    const current = replicas[at % 2] ?? replica;
    await current[Symbol.asyncDispose]();
    replicas[at % 2] = await startReplica(handle, { port: current.port });
    await expect.poll(() => client.down.size, { timeout: 10_000 }).toBe(0);
  }
  done.abort();
  await Promise.all(callers);
  expect(outcomes.filter((each) => each !== "served")).toEqual([]);
  expect(executed).toBe(outcomes.length);
  for (const replica of replicas) await replica[Symbol.asyncDispose]();
});

test("repeats reads and keyed writes of a replica that broke off, and no other writes", async () => {
  const gate = Promise.withResolvers<void>();
  await using broken = await startReplica(never);
  await using healthy = await startReplica(() => gate.promise);
  await using proxy = await startTcpProxy({ host: "127.0.0.1", port: broken.port });
  using client = connect(() => [`http://127.0.0.1:${proxy.port}`, healthy.url]);
  const keyed = { ...serviceCall(), idempotency: { key: "k", requestHash: new Uint8Array() } };
  // One of each goes to each replica.
  const sends = [client.read, client.read, () => client.write(keyed), () => client.write(keyed)];
  const calls = [...sends, client.write, client.write].map((send) => send());
  await expect.poll(() => [broken.calls(), healthy.calls()]).toEqual([3, 3]);
  await proxy.close();
  await expect.poll(() => healthy.calls()).toBe(5);
  gate.resolve();
  const outcomes = await Promise.all(calls);
  expect(outcomes.slice(0, 4)).toEqual(["served", "served", "served", "served"]);
  expect(outcomes.slice(4).toSorted()).toEqual(["served", "service_unavailable"]);
  expect(client.retries()).toBe(2);
});

test("ends with the caller's deadline, and fails immediately when no replica can be reached", async () => {
  const replica = await startReplica(never);
  using client = connect(() => [replica.url]);
  const hopeless = { ...serviceCall(), deadline: Date.now() + 300 };
  expect(await client.read(hopeless)).toBe("deadline_exceeded");
  await replica[Symbol.asyncDispose]();
  expect(await client.read()).toBe("service_unavailable");
});

test("calls a replica as soon as it is back, however many calls it broke off", async () => {
  const broken = await startReplica(never);
  const proxy = await startTcpProxy({ host: "127.0.0.1", port: broken.port });
  const url = `http://127.0.0.1:${proxy.port}`;
  using client = connect(() => [url]);
  const writes = Array.from({ length: 24 }, () => client.write());
  await expect.poll(() => broken.calls()).toBe(24);
  await proxy.close();
  expect(new Set(await Promise.all(writes))).toEqual(new Set(["service_unavailable"]));
  await expect.poll(() => [...client.down]).toEqual([url]);
  await broken[Symbol.asyncDispose]();
  await using again = await startReplica(idle, { port: proxy.port });
  await expect.poll(() => [...client.down], { timeout: 3_000 }).toEqual([]);
  expect(await client.write()).toBe("served");
  expect(again.calls()).toBe(1);
});
