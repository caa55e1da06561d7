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
  checkInvariants,
  commandOf,
  committer,
  givenDiscount,
  keyOf,
  madeOf,
  startFixture,
  voucherPart,
} from "./fixture.ts";

const fixture = await startFixture();
afterAll(() => fixture[Symbol.asyncDispose]());
const commit = committer(fixture);
const { db, projectId } = fixture;

/** What loyalty was told of the ends of spends: the redemption, or null for none. */
const told = new Map<string, string | null>();

const cards = clientOf(
  CardService,
  createDirectTransport([
    {
      service: CardService,
      handlers: {
        resolvePointsHolds: ({ resolutions: ends }: ResolvePointsHoldsRequest) => {
          for (const { holdId: spendId, redemptionId = null } of ends) {
            const before = told.get(spendId);
            if (before !== undefined && before !== redemptionId) {
              throw new Error(`${spendId} ended as ${before}, and now as ${redemptionId}`);
            }
            told.set(spendId, redemptionId);
          }
          return Promise.resolve(create(ResolvePointsHoldsResponseSchema));
        },
      },
    },
  ]),
);
const abandon = (...spendIds: readonly string[]) =>
  releasePointsHolds(
    { db, cards },
    spendIds.map((holdId) => ({ projectId, holdId })),
  );

async function redeeming(spendId: string, key?: string) {
  const voucher = await givenDiscount(fixture);
  const points = { holdId: spendId, points: 5n, cardPoints: 9n, balance: 4n, redeemedPoints: 5n };
  return commandOf(fixture, [], {
    parts: [voucherPart(voucher, { points })],
    ...(key !== undefined && { idempotency: keyOf(key) }),
  });
}

describe("a points hold", () => {
  test("that was released is used by no commit, which becomes stale", async () => {
    const spendId = newId("ps");
    await abandon(spendId);
    const [outcome] = await commit(await redeeming(spendId));
    expect(outcome?.outcome.case).toBe("stale");
    await abandon(spendId);
    expect(told.get(spendId)).toBeNull();
  });

  test("that a redemption used is not released any more", async () => {
    const spendId = newId("ps");
    const [made] = madeOf((await commit(await redeeming(spendId)))[0]);
    expect(made).toMatchObject({ amount: 5n, loyaltyCard: { points: 5n }, gift: undefined });
    await abandon(spendId);
    expect(told.get(spendId)).toBe(made?.id);
    expect((await commit(await redeeming(spendId)))[0]?.outcome.case).toBe("stale");
  });

  test("is used again only by a replay of its request", async () => {
    const spendId = newId("ps");
    const command = await redeeming(spendId, newId("ps"));
    const [first, second] = await commit(command, command);
    expect(second?.replayed).toBe(true);
    expect(madeOf((await commit(command))[0])).toEqual(madeOf(first));
  });

  test("waits for a commit that is using it, and then reports its redemption", async () => {
    const [used, left] = [newId("ps"), newId("ps")];
    const ended = Promise.withResolvers<void>();
    const open = (spendId: string, redemptionId: string | null) => {
      const claimed = Promise.withResolvers<void>();
      const over = db
        .transaction(async (tx) => {
          await claimHolds(tx, [{ projectId, holdId: spendId, redemptionId }]);
          claimed.resolve();
          await ended.promise;
          if (redemptionId === null) throw new Error("nothing is committed");
        })
        .catch(() => {});
      return { claimed: claimed.promise, over };
    };
    const commits = [open(used, "r_used"), open(left, null)];
    await Promise.all(commits.map(({ claimed }) => claimed));
    const waiting = Promise.all([abandon(used), abandon(left)]);
    ended.resolve();
    await Promise.all([waiting, ...commits.map(({ over }) => over)]);
    expect([told.get(used), told.get(left)]).toEqual(["r_used", null]);
  });

  test("is either committed or released, never both", async () => {
    const spendIds = Array.from({ length: 60 }, () => newId("ps"));
    const commands = await Promise.all(spendIds.map((spendId) => redeeming(spendId)));
    const results = await Promise.all(
      commands.map(async (command, at) => {
        const [[outcome]] = await Promise.all([
          at % 2 === 0
            ? commit(command)
            : fixture
                .replica()
                .commitRedemptions({ commands: [command] }, fixture.call())
                .then(({ outcomes }) => outcomes),
          abandon(spendIds[at] ?? ""),
        ]);
        return outcome;
      }),
    );
    await abandon(...spendIds);
    for (const [at, outcome] of results.entries()) {
      const redemption = told.get(spendIds[at] ?? "");
      if (outcome?.outcome.case === "committed") expect(madeOf(outcome)[0]?.id).toBe(redemption);
      else expect([outcome?.outcome.case, redemption]).toEqual(["stale", null]);
    }
    await checkInvariants(fixture);
  });
});
