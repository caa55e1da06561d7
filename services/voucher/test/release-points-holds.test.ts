import { create } from "@bufbuild/protobuf";
import { newId } from "@scrip/ids";
import {
  CardService,
  type ResolvePointsHoldsRequest,
  ResolvePointsHoldsResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { releasePointsHolds } from "../src/points/release-holds.ts";
import { claimHolds } from "../src/store/points-claims.ts";
import {
  commandOf,
  createCommit,
  createDiscountVoucher,
  keyOf,
  committedRedemptions,
  voucherPart,
} from "./builders.ts";
import { checkInvariants, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const commit = createCommit(service);
const { db, projectId } = service;

/** What loyalty was reported of the ends of spends: the redemption, or null for none. */
const reported = new Map<string, string | null>();

const cards = clientOf(
  CardService,
  createDirectTransport([
    {
      service: CardService,
      handlers: {
        resolvePointsHolds: ({ resolutions: ends }: ResolvePointsHoldsRequest) => {
          for (const { holdId, redemptionId = null } of ends) {
            const before = reported.get(holdId);
            if (before !== undefined && before !== redemptionId) {
              throw new Error(`${holdId} ended as ${before}, and now as ${redemptionId}`);
            }
            reported.set(holdId, redemptionId);
          }
          return Promise.resolve(create(ResolvePointsHoldsResponseSchema));
        },
      },
    },
  ]),
);
const release = (...holdIds: readonly string[]) =>
  releasePointsHolds(
    { db, cards },
    holdIds.map((holdId) => ({ projectId, holdId })),
  );

async function redeeming(holdId: string, key?: string) {
  const voucher = await createDiscountVoucher(service);
  const points = { holdId, points: 5n, cardPoints: 9n, balance: 4n, redeemedPoints: 5n };
  return commandOf(service, [], {
    parts: [voucherPart(voucher, { points })],
    ...(key !== undefined && { idempotency: keyOf(key) }),
  });
}

describe("a points hold", () => {
  test("that was released makes the commit stale", async () => {
    const holdId = newId("ps");
    await release(holdId);
    const [outcome] = await commit(await redeeming(holdId));
    expect(outcome?.outcome.case).toBe("stale");
    await release(holdId);
    expect(reported.get(holdId)).toBeNull();
  });

  test("that a redemption used can no longer be released", async () => {
    const holdId = newId("ps");
    const [committed] = committedRedemptions((await commit(await redeeming(holdId)))[0]);
    expect(committed).toMatchObject({ amount: 5n, loyaltyCard: { points: 5n }, gift: undefined });
    await release(holdId);
    expect(reported.get(holdId)).toBe(committed?.id);
    expect((await commit(await redeeming(holdId)))[0]?.outcome.case).toBe("stale");
  });

  test("is used again only by a replay of its request", async () => {
    const holdId = newId("ps");
    const command = await redeeming(holdId, newId("ps"));
    const [first, second] = await commit(command, command);
    expect(second?.replayed).toBe(true);
    expect(committedRedemptions((await commit(command))[0])).toEqual(committedRedemptions(first));
  });

  test("waits for a commit that uses it, and then reports its redemption", async () => {
    const [used, left] = [newId("ps"), newId("ps")];
    const ended = Promise.withResolvers<void>();
    const open = (holdId: string, redemptionId: string | null) => {
      const claimed = Promise.withResolvers<void>();
      const over = db
        .transaction(async (tx) => {
          await claimHolds(tx, [{ projectId, holdId, redemptionId }]);
          claimed.resolve();
          await ended.promise;
          if (redemptionId === null) throw new Error("nothing is committed");
        })
        .catch(() => {});
      return { claimed: claimed.promise, over };
    };
    const commits = [open(used, "r_used"), open(left, null)];
    await Promise.all(commits.map(({ claimed }) => claimed));
    const waiting = Promise.all([release(used), release(left)]);
    ended.resolve();
    await Promise.all([waiting, ...commits.map(({ over }) => over)]);
    expect([reported.get(used), reported.get(left)]).toEqual(["r_used", null]);
  });

  test("is either committed or released, never both", async () => {
    const holdIds = Array.from({ length: 60 }, () => newId("ps"));
    const commands = await Promise.all(holdIds.map((holdId) => redeeming(holdId)));
    const results = await Promise.all(
      commands.map(async (command, at) => {
        const [[outcome]] = await Promise.all([
          at % 2 === 0
            ? commit(command)
            : service
                .replica()
                .commitRedemptions({ commands: [command] }, service.call())
                .then(({ outcomes }) => outcomes),
          release(holdIds[at] ?? ""),
        ]);
        return outcome;
      }),
    );
    await release(...holdIds);
    for (const [at, outcome] of results.entries()) {
      const redemption = reported.get(holdIds[at] ?? "");
      if (outcome?.outcome.case === "committed")
        expect(committedRedemptions(outcome)[0]?.id).toBe(redemption);
      else expect([outcome?.outcome.case, redemption]).toEqual(["stale", null]);
    }
    await checkInvariants(service);
  });
});
