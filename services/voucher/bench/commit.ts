/**
 * Measures how many redemptions a second CommitRedemptions takes, and LoadVouchers reads: on one
 * hot code and on 100,000 codes, by size of batch. Run: node services/voucher/bench/commit.ts
 * (DATABASE_URL names a server to use; without it an embedded one is started).
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { startEmbeddedPostgres } from "@scrip/embedded-postgres";
import { newId } from "@scrip/ids";
import { createDatabase, migrate, type Database } from "@scrip/postgres";
import type { Order } from "@scrip/proto/scrip/common/v1/order_pb";
import { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import {
  type RedemptionCommand,
  RedemptionService,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { batchCall, type Client, clientOf, createDirectTransport } from "@scrip/rpc";

import { createRecentUsages } from "../src/batch/recent-usages.ts";
import { createAssetCipher } from "../src/image/asset-cipher.ts";
import { createDefinitionCache } from "../src/loading/definition-cache.ts";
import { routes } from "../src/routes.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";

const CODES = 100_000;
const BATCH_SIZES = [1, 10, 100, 500];
const LANES = 2;
const SECONDS = Number(process.env["SECONDS"] ?? 3);
const PROJECT = "proj_bench";

const HASH = new Uint8Array(32).fill(7);

const ORDER: Order = {
  $typeName: "scrip.common.v1.Order",
  id: "ord_1",
  status: 2,
  amount: 12_000n,
  initialAmount: 12_000n,
  discountAmount: 1200n,
  itemsDiscountAmount: 0n,
  totalDiscountAmount: 1200n,
  totalAmount: 10_800n,
  appliedDiscountAmount: 1200n,
  itemsAppliedDiscountAmount: 0n,
  totalAppliedDiscountAmount: 1200n,
  items: [1n, 2n, 3n].map((n) => ({
    $typeName: "scrip.common.v1.OrderItem",
    collectionIds: [],
    id: `ordli_${n}`,
    productId: `prod_${n}`,
    relatedObject: "product",
    quantity: n,
    initialQuantity: n,
    discountQuantity: 0n,
    price: 2000n,
    amount: 2000n * n,
    initialAmount: 2000n * n,
    discountAmount: 0n,
    appliedDiscountAmount: 0n,
    appliedDiscountQuantity: 0n,
    appliedQuantity: 0n,
    appliedQuantityAmount: 0n,
    subtotalAmount: 2000n * n,
    applicationDetails: [],
  })),
  redemptions: {},
};

await using parts = new AsyncDisposableStack();
const url = await databaseUrl(parts);
await migrate({ url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
const db = createDatabase({
  url,
  schema: SCHEMA,
  role: ROLE,
  poolSize: 10,
  onError: console.error,
});
parts.defer(() => db.close());
await fill(db);
const client = clientOf(
  RedemptionService,
  createDirectTransport(
    routes({
      db,
      codesSortByBytes: true,
      newId,
      definitions: createDefinitionCache(),
      recentUsages: createRecentUsages(),
      assets: createAssetCipher("bench"),
      customers: clientOf(CustomerService, createDirectTransport([])),
      cards: clientOf(CardService, createDirectTransport([])),
      findProject: () => undefined,
      onError: console.error,
      onEvents: () => {},
    }),
  ),
);

for (const codes of [1, CODES]) {
  for (const size of BATCH_SIZES) {
    for (const kind of ["load", "commit", "commit with order and key"] as const) {
      await measure(client, { codes, size, kind });
    }
  }
}

type Run = {
  readonly codes: number;
  readonly size: number;
  readonly kind: "load" | "commit" | "commit with order and key";
};

async function measure(redemptions: Client<typeof RedemptionService>, run: Run): Promise<void> {
  let items = 0;
  const end = performance.now() + SECONDS * 1000;
  const cpu = process.cpuUsage();
  const start = performance.now();
  const lane = async (): Promise<void> => {
    while (performance.now() < end) {
      const numbers = Array.from({ length: run.size }, () => Math.floor(Math.random() * run.codes));
      if (run.kind === "load") await load(redemptions, numbers);
      else await commit(redemptions, numbers, run.kind !== "commit");
      items += run.size;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const elapsed = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `${run.codes} codes, batch ${run.size}, ${run.kind}: ${Math.round(items / elapsed)}/s, ` +
      `${((user + system) / items).toFixed(1)} µs of CPU each in this process`,
  );
}

async function load(
  redemptions: Client<typeof RedemptionService>,
  numbers: readonly number[],
): Promise<void> {
  const { results: answers } = await redemptions.loadVouchers(
    {
      $typeName: "scrip.voucher.v1.LoadVouchersRequest",
      queries: numbers.map((number) => ({
        $typeName: "scrip.voucher.v1.VoucherQuery",
        projectId: PROJECT,
        codes: [`CODE${number}`],
      })),
    },
    call(),
  );
  if (answers.some(({ vouchers: [one] }) => one?.voucher === undefined)) throw new Error("missed");
}

async function commit(
  redemptions: Client<typeof RedemptionService>,
  numbers: readonly number[],
  full: boolean,
): Promise<void> {
  const now = {
    $typeName: "google.protobuf.Timestamp" as const,
    seconds: BigInt(Math.floor(Date.now() / 1000)),
    nanos: 0,
  };
  const commands = numbers.map((number): RedemptionCommand => ({
    $typeName: "scrip.voucher.v1.RedemptionCommand",
    projectId: PROJECT,
    requestId: "v-bench",
    now,
    channel: { $typeName: "scrip.voucher.v1.Channel", channelId: "app", channelType: "API" },
    replayData: new Uint8Array(),
    overrides: [],
    parts: [
      {
        $typeName: "scrip.voucher.v1.RedemptionPart",
        redeemable: { case: "voucherId", value: `v_${number}` },
        definitionVersion: 1n,
        credits: 0n,
        orderAmount: 0n,
        discountedAmount: 0n,
        units: [],
        guards: [],
      },
    ],
    ...(full && {
      order: ORDER,
      idempotency: {
        $typeName: "scrip.voucher.v1.IdempotencyKey",
        key: newId("event"),
        requestHash: HASH,
      },
    }),
  }));
  const { outcomes } = await redemptions.commitRedemptions(
    { $typeName: "scrip.voucher.v1.CommitRedemptionsRequest", commands },
    call(),
  );
  if (outcomes.some(({ outcome }) => outcome.case !== "committed")) throw new Error("not made");
}

function call() {
  const now = Date.now();
  return batchCall("v-bench", now + 8000, now);
}

async function fill(database: Database): Promise<void> {
  await database.query(
    `insert into voucher (project_id, id, code, code_key, type, discount, metadata, asset_id,
            is_referral_code, created_at, definition_version)
     select '${PROJECT}', 'v_' || n, 'CODE' || n, 'CODE' || n, 'DISCOUNT_VOUCHER',
            '{"type": "PERCENT", "effect": null, "percent_off": "10"}', '{}', 'asset', false, now(), 1
       from generate_series(0, ${CODES - 1}) n
         on conflict do nothing`,
  );
  await database.query(
    `insert into voucher_usage (project_id, voucher_id, definition_version)
     select '${PROJECT}', 'v_' || n, 1 from generate_series(0, ${CODES - 1}) n
         on conflict do nothing`,
  );
}

async function databaseUrl(stack: AsyncDisposableStack): Promise<string> {
  const given = process.env["DATABASE_URL"];
  if (given !== undefined) return given;
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-voucher-bench-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  return stack.use(await startEmbeddedPostgres({ dataDir: folder })).url;
}
