import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, afterEach, describe, expect, test } from "vitest";

import { deleteExpiredReservations } from "../src/store/reservations.ts";
import {
  commandOf,
  createCommit,
  createDiscountVoucher,
  createGiftVoucher,
  committedRedemptions,
  rejectionOf,
} from "./builders.ts";
import { checkInvariants, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
afterEach(() => checkInvariants(service));
const commit = createCommit(service);
const replica = service.replica();

/** The real time, which is later than the fixed noon of the tests: what has expired then has expired now. */
const NOW = Date.now();
const instant = (at: number) => ({
  $typeName: "google.protobuf.Timestamp" as const,
  seconds: BigInt(Math.floor(at / 1000)),
  nanos: 0,
});

type Wish = { readonly voucher: Voucher; readonly credits?: bigint };

const sessionOf = (
  sessionKey: string,
  wishes: readonly Wish[],
  { now = NOW, ttl = 60_000 }: { readonly now?: number; readonly ttl?: number } = {},
) => ({
  projectId: service.projectId,
  sessionKey,
  now: instant(now),
  expiresAt: instant(now + ttl),
  reservations: wishes.map(({ voucher, credits = 0n }) => ({
    voucherId: voucher.id,
    definitionVersion: 1n,
    credits,
  })),
});

const reserve = async (...commands: ReturnType<typeof sessionOf>[]) =>
  (await service.redemptions.reserveVouchers({ commands }, service.call())).outcomes;

/** The key of the rejection, or how it ended otherwise. */
const endOf = (outcome: Awaited<ReturnType<typeof reserve>>[number] | undefined) =>
  outcome?.outcome.case === "rejected" ? outcome.outcome.value.key : outcome?.outcome.case;

const redeem = async (wishes: readonly Wish[], sessionKey?: string, now = NOW) =>
  (
    await commit(
      commandOf(service, wishes, {
        now: instant(now),
        ...(sessionKey !== undefined && { sessionKey }),
      }),
    )
  )[0];

const lockedFor = async (voucher: Voucher, sessionKey?: string, now = NOW) => {
  const { results } = await service.redemptions.loadVouchers(
    {
      queries: [
        {
          projectId: service.projectId,
          codes: [voucher.code],
          now: instant(now),
          ...(sessionKey !== undefined && { sessionKey }),
        },
      ],
    },
    service.call(),
  );
  const [found] = results[0]?.vouchers ?? [];
  return [found?.lockedQuantity, found?.lockedCredits];
};

const release = (voucher: Voucher, sessionKey: string) =>
  service.redemptions.releaseSession(
    { code: voucher.code, sessionKey },
    service.call({ now: NOW }),
  );

const createLimitedVoucher = (quantity: bigint) =>
  createDiscountVoucher(service, { redemption: { quantity } });

describe("ReserveVouchers", () => {
  test("accepts four sessions for a limit of four, and rejects the fifth", async () => {
    const voucher = await createLimitedVoucher(4n);
    const outcomes = await reserve(
      ...["a", "b", "c", "d", "e"].map((key) => sessionOf(key, [{ voucher }])),
    );
    expect(outcomes.map(endOf)).toEqual([
      ...Array.from({ length: 4 }, () => "reserved"),
      "quantity_exceeded",
    ]);
    expect(await lockedFor(voucher)).toEqual([4n, 0n]);
    expect(await lockedFor(voucher, "a")).toEqual([3n, 0n]);
    expect(rejectionOf(await redeem([{ voucher }])).key).toBe("quantity_exceeded");
    expect(rejectionOf(await redeem([{ voucher }], "e")).key).toBe("quantity_exceeded");
    expect(committedRedemptions(await redeem([{ voucher }], "b"))[0]).toMatchObject({
      session: { key: "b" },
    });
    expect(await lockedFor(voucher)).toEqual([3n, 0n]);
  });

  test("never conflicts with itself, and locks what it requested last", async () => {
    const [first, second] = [await createLimitedVoucher(1n), await createLimitedVoucher(1n)];
    const outcomes = await reserve(
      sessionOf("own", [{ voucher: first }]),
      sessionOf("own", [{ voucher: first }]),
      sessionOf("own", [{ voucher: second }]),
    );
    expect(outcomes.map(endOf)).toEqual(["reserved", "reserved", "reserved"]);
    expect(await lockedFor(first)).toEqual([0n, 0n]);
    expect(await lockedFor(second)).toEqual([1n, 0n]);
    expect(committedRedemptions(await redeem([{ voucher: first }]))).toHaveLength(1);
  });

  test("locks everything it requests or stays unchanged", async () => {
    const [free, taken] = [await createLimitedVoucher(1n), await createLimitedVoucher(1n)];
    await reserve(sessionOf("other", [{ voucher: taken }]));
    await reserve(sessionOf("whole", [{ voucher: free }]));
    const [outcome] = await reserve(sessionOf("whole", [{ voucher: free }, { voucher: taken }]));
    expect(endOf(outcome)).toBe("quantity_exceeded");
    expect(outcome?.outcome.value).toMatchObject({ details: taken.code });
    expect(await lockedFor(free)).toEqual([1n, 0n]);
  });

  test("locks credits of a gift card against other sessions", async () => {
    const voucher = await createGiftVoucher(service, 1000n);
    const outcomes = await reserve(
      sessionOf("gift-1", [{ voucher, credits: 700n }]),
      sessionOf("gift-2", [{ voucher, credits: 400n }]),
      sessionOf("gift-2", [{ voucher, credits: 300n }]),
    );
    expect(outcomes.map(endOf)).toEqual(["reserved", "gift_amount_exceeded", "reserved"]);
    expect(await lockedFor(voucher, "gift-1")).toEqual([1n, 300n]);
    expect(rejectionOf(await redeem([{ voucher, credits: 1n }])).key).toBe("gift_amount_exceeded");
    expect(rejectionOf(await redeem([{ voucher, credits: 800n }], "gift-1")).key).toBe(
      "gift_amount_exceeded",
    );
    // A failed redemption keeps what its session holds.
    expect(await lockedFor(voucher)).toEqual([2n, 1000n]);
    expect(committedRedemptions(await redeem([{ voucher, credits: 700n }], "gift-1"))).toHaveLength(
      1,
    );
    expect(await lockedFor(voucher)).toEqual([1n, 300n]);
  });

  test("ignores expired sessions", async () => {
    const voucher = await createLimitedVoucher(1n);
    await reserve(sessionOf("short", [{ voucher }], { ttl: 60_000 }));
    expect(await lockedFor(voucher, undefined, NOW + 59_000)).toEqual([1n, 0n]);
    expect(await lockedFor(voucher, undefined, NOW + 60_000)).toEqual([0n, 0n]);
    const [next] = await reserve(sessionOf("next", [{ voucher }], { now: NOW + 61_000 }));
    expect(endOf(next)).toBe("reserved");
    const outcome = await redeem([{ voucher }], "next", NOW + 62_000);
    expect(committedRedemptions(outcome)).toHaveLength(1);
  });

  test("ReleaseSession releases one voucher, once", async () => {
    const voucher = await createLimitedVoucher(1n);
    await reserve(sessionOf("given-up", [{ voucher }]));
    await release(voucher, "given-up");
    expect(await lockedFor(voucher)).toEqual([0n, 0n]);
    await expect(release(voucher, "given-up")).rejects.toMatchObject({ key: "not_found" });
    await expect(
      service.redemptions.releaseSession({ code: "NO-SUCH", sessionKey: "x" }, service.call()),
    ).rejects.toMatchObject({ key: "not_found" });
    expect(committedRedemptions(await redeem([{ voucher }]))).toHaveLength(1);
  });

  test("accepts any number of sessions for a voucher without a limit, until it gets one", async () => {
    const voucher = await createDiscountVoucher(service);
    const keys = Array.from({ length: 5 }, (_, index) => `free-${index}`);
    const outcomes = await reserve(...keys.map((key) => sessionOf(key, [{ voucher }])));
    expect(outcomes.map(endOf)).toEqual(keys.map(() => "reserved"));
    expect(committedRedemptions(await redeem([{ voucher }]))).toHaveLength(1);
    await service.vouchers.updateVoucher(
      {
        code: voucher.code,
        redemption: { quantity: 6n },
        updateMask: { paths: ["redemption"] },
      },
      service.call(),
    );
    expect(await lockedFor(voucher)).toEqual([5n, 0n]);
    await release(voucher, "free-0");
    expect(await lockedFor(voucher)).toEqual([4n, 0n]);
  });

  test("returns stale when the voucher changed since it was validated", async () => {
    const voucher = await createLimitedVoucher(1n);
    await service.vouchers.disableVoucher({ code: voucher.code }, service.call());
    const [outcome] = await reserve(sessionOf("stale", [{ voucher }]));
    expect(endOf(outcome)).toBe("stale");
  });

  test("deletes sessions some days after they expired", async () => {
    const voucher = await createLimitedVoucher(1n);
    await reserve(sessionOf("old", [{ voucher }]));
    expect(await deleteExpiredReservations(service.db, 100)).toBe(0);
    await service.db.query(
      "update reservation set kept_until = now() - interval '1 second' where session_key = 'old'",
    );
    expect(await deleteExpiredReservations(service.db, 100)).toBe(1);
  });
});

test("of a hundred concurrent sessions for five redemptions, five get one and redeem it (F47)", async () => {
  const voucher = await createLimitedVoucher(5n);
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, batch) =>
      (batch % 2 === 0 ? service.redemptions : replica).reserveVouchers(
        {
          commands: Array.from({ length: 5 }, (__, index) =>
            sessionOf(`race-${batch}-${index}`, [{ voucher }]),
          ),
        },
        service.call(),
      ),
    ),
  );
  const ends = outcomes.flatMap((one) => one.outcomes).map(endOf);
  expect(ends.filter((end) => end === "reserved")).toHaveLength(5);
  expect(new Set(ends)).toEqual(new Set(["reserved", "quantity_exceeded"]));
  expect(rejectionOf(await redeem([{ voucher }])).key).toBe("quantity_exceeded");
  const winners = ends.flatMap((end, index) =>
    end === "reserved" ? [`race-${Math.floor(index / 5)}-${index % 5}`] : [],
  );
  const redeemed = await Promise.all(winners.map((key) => redeem([{ voucher }], key)));
  expect(redeemed.map((one) => one?.outcome.case)).toEqual(winners.map(() => "committed"));
  expect(await lockedFor(voucher)).toEqual([0n, 0n]);
  const { rows } = await service.db.query(
    "select reserved from voucher_usage where voucher_id = $1",
    [voucher.id],
  );
  expect(rows).toEqual([{ reserved: false }]);
});
