import { setImmediate as nextIteration } from "node:timers/promises";

import { create } from "@bufbuild/protobuf";
import {
  type ListVouchersRequest,
  ListVouchersResponseSchema,
  VoucherSchema,
  VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, expect, test } from "vitest";

import { newToken, send, serverHeaders } from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { stubService } from "./service-stubs.ts";

const ROW_BYTES = 50_000;
const running = { lists: 0, mostLists: 0, served: 0 };
const release = Promise.withResolvers<void>();

/** Lists wait until the test has seen how many run. */
async function listVouchers({ limit = 10n }: ListVouchersRequest) {
  running.lists += 1;
  running.mostLists = Math.max(running.mostLists, running.lists);
  await release.promise;
  for (let iteration = 0; iteration < 20; iteration += 1) await nextIteration();
  running.lists -= 1;
  running.served += 1;
  const voucher = create(VoucherSchema, { metadata: { text: "x".repeat(ROW_BYTES) } });
  return create(ListVouchersResponseSchema, { vouchers: Array(Number(limit)).fill(voucher) });
}

const gateway = await startTestGateway({
  implementations: [
    stubService(VoucherService, { listVouchers, getVoucher: async () => create(VoucherSchema) }),
  ],
});
afterAll(() => gateway[Symbol.asyncDispose]());
const headers = serverHeaders(gateway.keys, await newToken(gateway, gateway.keys, "api"));
const get = (path: string) => send(`${gateway.url}${path}`, "GET", { headers });

test("starts few lists of unknown size, then one at a time, and serves light requests concurrently", async () => {
  // 49 objects are light as long as they are small.
  const lists = Array.from({ length: 200 }, () => get("/v1/vouchers?limit=49"));
  await expect.poll(() => running.lists).toBe(4);
  const light = await Promise.all(Array.from({ length: 20 }, () => get("/v1/vouchers/x")));
  expect(light.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(running).toEqual({ lists: 4, mostLists: 4, served: 0 });

  release.resolve();
  const statuses = (await Promise.all(lists)).map(({ status }) => status);
  expect(running.mostLists).toBe(4);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(statuses.filter((status) => status === 200)).toHaveLength(running.served);
  expect(running.served).toBeGreaterThan(4);

  running.mostLists = 0;
  await Promise.all(Array.from({ length: 20 }, () => get("/v1/vouchers?limit=49")));
  expect(running.mostLists).toBe(1);

  // A small page of large objects is no light request either.
  running.mostLists = 0;
  const small = await Promise.all(Array.from({ length: 20 }, () => get("/v1/vouchers?limit=5")));
  expect(new Set(small.map(({ status }) => status))).toContain(200);
  expect(running.mostLists).toBeLessThan(10);
});
