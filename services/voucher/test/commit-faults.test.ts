import type { Database } from "@scrip/postgres";
import { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { routes } from "../src/routes.ts";
import {
  commandOf,
  createCommit,
  createDiscountVoucher,
  keyOf,
  committedRedemptions,
} from "./builders.ts";
import { depsOf, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());

/** What the driver throws when the connection dies. */
const connectionLost = (): Error => new Error("Connection terminated unexpectedly");

/** The service over a database whose transactions fail as `faults` say, one after the other. */
function withFaults(...faults: ("before commit" | "after commit" | "none")[]) {
  const { db } = service;
  const transaction: Database["transaction"] = async (work) => {
    const fault = faults.shift() ?? "none";
    const result = await db.transaction(async (tx) => {
      const done = await work(tx);
      if (fault === "before commit") throw connectionLost();
      return done;
    });
    if (fault === "after commit") throw connectionLost();
    return result;
  };
  const deps = depsOf({ ...db, transaction });
  return createCommit(service, clientOf(RedemptionService, createDirectTransport(routes(deps))));
}

const redeemedOf = async (voucherId: string): Promise<bigint | undefined> => {
  const { rows } = await service.db.query<{ redeemed_quantity: bigint }>(
    "select redeemed_quantity from voucher_usage where project_id = $1 and voucher_id = $2",
    [service.projectId, voucherId],
  );
  return rows[0]?.redeemed_quantity;
};

describe("a lost connection", () => {
  test("before the commit makes the batch run again", async () => {
    const voucher = await createDiscountVoucher(service);
    const outcomes = await withFaults("before commit", "before commit")(
      commandOf(service, [{ voucher }]),
      commandOf(service, [{ voucher }]),
    );
    expect(outcomes.map((outcome) => committedRedemptions(outcome).length)).toEqual([1, 1]);
    expect(await redeemedOf(voucher.id)).toBe(2n);
  });

  test("after the commit does not redeem twice, and returns the stored outcome", async () => {
    const voucher = await createDiscountVoucher(service);
    const outcomes = await withFaults(
      "after commit",
      "before commit",
      "none",
    )(
      commandOf(service, [{ voucher }]),
      commandOf(service, [{ voucher }], { idempotency: keyOf("lost") }),
    );
    expect(await redeemedOf(voucher.id)).toBe(2n);
    for (const outcome of outcomes) {
      expect(outcome.replayed).toBe(false);
      const [committed] = committedRedemptions(outcome);
      const stored = await service.redemptions.getRedemption(
        { redemptionId: committed?.id ?? "" },
        service.call(),
      );
      expect(stored.id).toBe(committed?.id);
    }
  });

  test("that fails repeatedly is reported to the caller", async () => {
    const voucher = await createDiscountVoucher(service);
    const commit = withFaults(...Array.from({ length: 4 }, () => "before commit" as const));
    await expect(commit(commandOf(service, [{ voucher }]))).rejects.toThrow(
      "Connection terminated",
    );
    expect(await redeemedOf(voucher.id)).toBe(0n);
  });
});
