import { fromBinary, toJson } from "@bufbuild/protobuf";
import type { Database } from "@scrip/postgres";
import { unpackBytes } from "@scrip/postgres";
import { OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import {
  type CommitOutcome,
  CommitOutcomeSchema,
  RedemptionService,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";

import type { RecentUsages } from "../src/batch/recent-usages.ts";
import { routes } from "../src/routes.ts";
import {
  commandOf,
  type Commit,
  committedRedemptions,
  createCommit,
  createDiscountVoucher,
  createGiftVoucher,
  keyOf,
} from "./builders.ts";
import { withRetries } from "./concurrency.ts";
import { checkInvariants, depsOf, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());

/** A process of the service that counts its transactions, the commits under locks. */
function startProcess({ db, deps = {} }: { db?: Partial<Database>; deps?: object } = {}) {
  let transactions = 0;
  const own = depsOf({
    ...service.db,
    ...db,
    transaction: (work, options) => {
      transactions += 1;
      return service.db.transaction(work, options);
    },
  });
  const transport = createDirectTransport(routes({ ...own, ...deps }));
  const client = clientOf(RedemptionService, transport);
  return {
    client,
    commit: createCommit(service, client),
    transactions: () => transactions,
    /** As a decision loads them: only then is it known how they are used. */
    load: (...vouchers: readonly Voucher[]) =>
      client.loadVouchers(
        {
          queries: [
            { projectId: service.projectId, codes: vouchers.map(({ code }) => code ?? "") },
          ],
        },
        service.call(),
      ),
  };
}

/** Never knows a usage, so that every commit locks. */
const LOCKING: RecentUsages = { get: () => undefined, record: () => {}, forget: () => {} };

const usedOf = async (voucher: Voucher): Promise<bigint | undefined> => {
  const { rows } = await service.db.query<{ redeemed_quantity: bigint }>(
    "select redeemed_quantity from voucher_usage where project_id = $1 and voucher_id = $2",
    [service.projectId, voucher.id],
  );
  return rows[0]?.redeemed_quantity;
};

/** As an edit does: under the lock of the row, with another version. */
const editQuantity = (voucher: Voucher, quantity: bigint): Promise<unknown> =>
  service.db.query(
    `update voucher_usage set quantity = $3, version = version + 1
      where project_id = $1 and voucher_id = $2`,
    [service.projectId, voucher.id, quantity],
  );

describe("a commit of plain redemptions", () => {
  test("is one statement, also repeatedly", async () => {
    const voucher = await createDiscountVoucher(service, { redemption: { quantity: 3n } });
    const one = startProcess();
    await one.load(voucher);
    for (const uses of [1n, 2n, 3n]) {
      const [outcome] = await one.commit(commandOf(service, [{ voucher }]));
      expect(committedRedemptions(outcome)[0]?.voucher?.redemption?.redeemedQuantity).toBe(uses);
    }
    expect(one.transactions()).toBe(0);
    const [fourth] = await one.commit(commandOf(service, [{ voucher }]));
    expect(fourth?.outcome.case).toBe("rejected");
    expect(one.transactions()).toBe(1);
    expect(await usedOf(voucher)).toBe(3n);
  });

  test("leaves commands to a commit under locks when another process changed a row", async () => {
    const [changed, same] = [
      await createDiscountVoucher(service, { redemption: { quantity: 2n } }),
      await createDiscountVoucher(service),
    ];
    const [one, other] = [startProcess(), startProcess()];
    await Promise.all([one.load(changed, same), other.load(changed)]);
    await other.commit(commandOf(service, [{ voucher: changed }]));
    const outcomes = await one.commit(
      commandOf(service, [{ voucher: changed }]),
      commandOf(service, [{ voucher: same }]),
      commandOf(service, [{ voucher: changed }]),
    );
    expect(outcomes.map(({ outcome }) => outcome.case)).toEqual([
      "committed",
      "committed",
      "rejected",
    ]);
    expect(one.transactions()).toBe(1);
    expect([await usedOf(changed), await usedOf(same)]).toEqual([2n, 1n]);
  });

  test("does not decide on a usage whose version was lost in a failover and given out again", async () => {
    const voucher = await createGiftVoucher(service, 100n);
    const [one, other] = [startProcess(), startProcess()];
    const redeem = (process: typeof one, amount: bigint) =>
      process.commit(commandOf(service, [{ voucher, credits: amount }]));
    await one.load(voucher);
    await redeem(one, 10n);
    // The new primary never received this commit, and another process redeems there.
    const at = "where project_id = $1 and voucher_id = $2";
    for (const statement of [
      `delete from redemption ${at}`,
      `delete from voucher_ledger_entry ${at} and version > 1`,
      `update voucher_usage set redeemed_quantity = 0, redeemed_amount = 0, balance = amount,
              version = version - 1, ledger_version = 1 ${at}`,
    ]) {
      await service.db.query(statement, [service.projectId, voucher.id]);
    }
    await redeem(other, 40n);
    await redeem(one, 10n);
    const { rows } = await service.db.query<{ balance: bigint }>(
      `select balance from voucher_usage ${at}`,
      [service.projectId, voucher.id],
    );
    expect(rows[0]?.balance).toBe(50n);
  });

  test("applies a key once that another process has used, or uses at the same time", async () => {
    const vouchers = await Promise.all([1, 2, 3, 4].map(() => createDiscountVoucher(service)));
    const processes = vouchers.map(() => startProcess());
    const outcomes = await Promise.all(
      processes.map(async ({ load, commit }, index) => {
        const voucher = vouchers[index];
        if (voucher === undefined) throw new Error("no voucher");
        await load(voucher);
        const command = commandOf(service, [{ voucher }], { idempotency: keyOf("shared") });
        return [...(await commit(command)), ...(await commit(command))];
      }),
    );
    const ids = outcomes.flat().map((outcome) => committedRedemptions(outcome)[0]?.id);
    expect(new Set(ids).size).toBe(1);
    expect(outcomes.flat().filter(({ replayed }) => !replayed)).toHaveLength(1);
    const uses = await Promise.all(vouchers.map(usedOf));
    expect(uses.filter((used) => used === 1n)).toHaveLength(1);
  });

  test("is exact while several processes load, redeem and edit the same vouchers", async () => {
    const limited = await createDiscountVoucher(service, { redemption: { quantity: 60n } });
    const gift = await createGiftVoucher(service, 1_000n);
    const processes = [startProcess(), startProcess(), startProcess()];
    const outcomes = await Promise.all(
      Array.from({ length: 36 }, async (_, batch) => {
        const process = processes[batch % processes.length];
        if (process === undefined) throw new Error("no process");
        await process.load(limited, gift);
        if (batch % 9 === 8) await editQuantity(limited, 60n);
        return withRetries(process.commit)(
          ...[1, 2, 3].map((credits) =>
            commandOf(service, [{ voucher: gift, credits: BigInt(credits + batch) }], {
              idempotency: keyOf(`race ${batch % 30} ${credits}`),
            }),
          ),
          commandOf(service, [{ voucher: limited }]),
          commandOf(service, [{ voucher: limited }]),
        );
      }),
    );
    const redeemed = outcomes.flat().filter(({ outcome, replayed }) => {
      return outcome.case === "committed" && !replayed;
    });
    const uses = redeemed.filter(
      (outcome) => committedRedemptions(outcome)[0]?.voucher?.id === limited.id,
    );
    expect([uses.length, await usedOf(limited)]).toEqual([60, 60n]);
    expect(await usedOf(gift)).toBe(BigInt(redeemed.length - uses.length));
    await checkInvariants(service);
  });

  test("does not wait for a row that is locked, and does not overtake the lock", async () => {
    const voucher = await createDiscountVoucher(service, { redemption: { quantity: 1n } });
    const one = startProcess();
    await one.load(voucher);
    const committing = await service.db.transaction(async (tx) => {
      await tx.query(
        `update voucher_usage set quantity = 0, version = version + 1
          where project_id = $1 and voucher_id = $2`,
        [service.projectId, voucher.id],
      );
      return { outcomes: one.commit(commandOf(service, [{ voucher }])) };
    });
    const [outcome] = await committing.outcomes;
    expect(outcome?.outcome.case).not.toBe("committed");
    expect(await usedOf(voucher)).toBe(0n);
  });

  test.each(["before", "after"] as const)(
    "whose connection is lost %s it was written redeems once",
    async (when) => {
      const voucher = await createDiscountVoucher(service);
      let lost = 0;
      const query: Database["query"] = async (statement, values) => {
        const isCommit =
          typeof statement !== "string" && statement.name === "write-unlocked-commits";
        if (!isCommit || when === "after") {
          const result = await service.db.query<never>(statement, values);
          if (!isCommit) return result;
        }
        lost += 1;
        throw new Error("Connection terminated unexpectedly");
      };
      const one = startProcess({ db: { query } });
      await one.load(voucher);
      const outcomes = await one.commit(
        commandOf(service, [{ voucher }]),
        commandOf(service, [{ voucher }], { idempotency: keyOf(`lost ${when}`) }),
      );
      expect(lost).toBe(1);
      expect(await usedOf(voucher)).toBe(2n);
      for (const outcome of outcomes) {
        const id = committedRedemptions(outcome)[0]?.id ?? "";
        const stored = await service.redemptions.getRedemption(
          { redemptionId: id },
          service.call(),
        );
        expect([stored.id, outcome.replayed]).toEqual([id, false]);
      }
    },
  );

  test("gives the same rows, events and outcomes as one under locks", async () => {
    await fc.assert(
      fc.asyncProperty(batches, async (some) => {
        const [unlocked, locked] = [
          startProcess(),
          startProcess({ deps: { recentUsages: LOCKING } }),
        ];
        const [a, b] = [await run(unlocked, some), await run(locked, some)];
        expect(a).toEqual(b);
      }),
      { numRuns: 15 },
    );
  });
});

type CommandPlan = {
  readonly voucher: number;
  readonly credits: number;
  readonly key: number | null;
  readonly hash: string;
  readonly hasOrder: boolean;
  readonly isRejection: boolean;
  readonly isOutdated: boolean;
};

const VOUCHERS = 4;

const batches = fc.array(
  fc.array(
    fc.record<CommandPlan>({
      voucher: fc.nat({ max: VOUCHERS - 1 }),
      credits: fc.nat({ max: 60 }),
      key: fc.option(fc.nat({ max: 5 }), { freq: 3 }),
      hash: fc.constantFrom("hash", "hash", "hash", "other"),
      hasOrder: fc.boolean(),
      isRejection: fc.nat({ max: 9 }).map((one) => one === 0),
      isOutdated: fc.nat({ max: 9 }).map((one) => one === 0),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  { minLength: 1, maxLength: 5 },
);

let runs = 0;

/** Commits the batches one after the other on vouchers of their own; everything that is left, without ids and times. */
async function run(
  { load, commit }: { load: (...vouchers: Voucher[]) => Promise<unknown>; commit: Commit },
  some: readonly (readonly CommandPlan[])[],
): Promise<unknown> {
  const number = (runs += 1);
  const vouchers = [
    await createDiscountVoucher(service, { code: `RUN-${number}-0` }),
    await createDiscountVoucher(service, { code: `RUN-${number}-1`, redemption: { quantity: 3n } }),
    await createGiftVoucher(service, 100n, { code: `RUN-${number}-2` }),
    await createGiftVoucher(service, 50n, {
      code: `RUN-${number}-3`,
      redemption: { quantity: 2n },
    }),
  ];
  const outcomes: CommitOutcome[] = [];
  for (const plans of some) {
    await load(...vouchers);
    outcomes.push(...(await commit(...plans.map((plan) => commandFrom(plan, vouchers, number)))));
  }
  const left = {
    outcomes: outcomes.map((outcome) => toJson(CommitOutcomeSchema, outcome)),
    ...(await rowsOf(vouchers, number)),
  };
  return withoutIds(JSON.stringify(left).replaceAll(`RUN-${number}-`, "RUN-"));
}

function commandFrom(plan: CommandPlan, vouchers: readonly Voucher[], number: number) {
  const voucher = vouchers[plan.voucher];
  if (voucher === undefined) throw new Error("no voucher");
  const isGift = voucher.gift !== undefined;
  return commandOf(
    service,
    [{ voucher, ...(isGift && !plan.isRejection && { credits: BigInt(plan.credits) }) }],
    {
      requestId: "request",
      ...(plan.key !== null && { idempotency: keyOf(`RUN-${number}-${plan.key}`, plan.hash) }),
      ...(plan.hasOrder && {
        customerId: "cust_1",
        customer: { id: "cust_1", name: "Ann" },
        order: { id: "ord_1", amount: 900n, items: [{ quantity: 1n, amount: 900n }] },
        replayData: new TextEncoder().encode("data"),
      }),
      ...(plan.isRejection && { rejection: { code: 400, key: "rejected", message: "rejected" } }),
      ...(plan.isOutdated && {
        parts: [
          { redeemable: { case: "voucherId" as const, value: voucher.id }, definitionVersion: 9n },
        ],
      }),
    },
  );
}

async function rowsOf(vouchers: readonly Voucher[], number: number): Promise<object> {
  const own = [service.projectId, vouchers.map(({ id }) => id)];
  const read = async (text: string, values: readonly unknown[] = own) =>
    (await service.db.query<Record<string, unknown>>(text, values)).rows.map(readable);
  return {
    usages: await read(
      "select * from voucher_usage where project_id = $1 and voucher_id = any($2) order by voucher_id",
    ),
    redemptions: await read(
      `select * from redemption where project_id = $1 and voucher_id = any($2)
        order by voucher_id, redeemed_quantity_after, failure_code, id`,
    ),
    ledger: await read(
      `select * from voucher_ledger_entry where project_id = $1 and voucher_id = any($2)
        order by voucher_id, version`,
    ),
    events: await read(
      `select project_id, id, topic, key, type, payload from outbox
        where project_id = $1 and key = any($2) and type = '${RedemptionMadeSchema.typeName}' order by key, id`,
    ),
    responses: await read(
      `select key, request_hash, kind, outcome from idempotency
        where project_id = $1 and starts_with(key, $2) order by key`,
      [service.projectId, `RUN-${number}-`],
    ),
  };
}

/** Messages as JSON, and without the time of the database. */
function readable(row: Record<string, unknown>): Record<string, unknown> {
  const read = {
    payload: (bytes: Uint8Array) =>
      toJson(RedemptionMadeSchema, fromBinary(RedemptionMadeSchema, bytes)),
    outcome: (bytes: Uint8Array) =>
      toJson(CommitOutcomeSchema, fromBinary(CommitOutcomeSchema, unpackBytes(bytes))),
    order_message: (bytes: Uint8Array) =>
      toJson(OrderSchema, fromBinary(OrderSchema, unpackBytes(bytes))),
  };
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (name === "created_at") return [name, null];
      if (value instanceof Uint8Array && name in read) {
        return [name, read[name as keyof typeof read](value)];
      }
      return [name, typeof value === "bigint" ? String(value) : value];
    }),
  );
}

/** Numbers the ids in the order of their appearance. */
function withoutIds(text: string): unknown {
  const numbers = new Map<string, string>();
  // Ids, and the longer ones of images.
  const numbered = text.replaceAll(/\b[a-z]+_[0-9a-f]{18}\b|[\w-]{60,}/g, (id) => {
    const known = numbers.get(id) ?? `id ${numbers.size}`;
    numbers.set(id, known);
    return known;
  });
  return JSON.parse(numbered) as unknown;
}
