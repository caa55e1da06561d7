import { newRequestId } from "@scrip/ids";
import type { PointsReservation } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Call } from "@scrip/rpc";
import { testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { lockRedeemables, type LockDeps } from "../src/session/lock-redeemables.ts";
import { buildVoucher, voucherRedeemable } from "./builders.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());

const call: Call = {
  project: { id: "proj_1", timeZone: "UTC", caseSensitiveCodes: true },
  requestId: newRequestId(),
  deadline: Date.now() + 60_000,
  now: Date.now(),
  caller: { side: "server", id: "app_1" },
};
const hold = {
  session: {
    $typeName: "scrip.common.v1.Session" as const,
    type: "LOCK",
    key: "ssn_1",
  },
  expiresAt: call.now + 60_000,
};
const card = {
  redeemable: voucherRedeemable(buildVoucher({ id: "v_1" })),
  benefit: {
    kind: "loyalty" as const,
    effect: "APPLY_TO_ORDER" as const,
    balance: 100n,
    points: 70n,
    lockedPoints: 0n,
  },
};
const before: PointsReservation = {
  $typeName: "scrip.loyalty.v1.PointsReservation",
  cardId: "v_1",
  initialPoints: 0n,
  points: 20n,
};

/** Records the points that a session holds, with a voucher service that fails. */
function besideAnOutage() {
  const held: bigint[][] = [];
  const errors: Error[] = [];
  const deps: LockDeps = {
    db,
    onError: (error) => errors.push(error),
    clients: {
      reservePoints: async ({ reservations }) => {
        held.push(reservations.map(({ points }) => points));
        return {
          $typeName: "scrip.loyalty.v1.PointsReservationOutcome",
          reserved: true,
          previous: [before],
        };
      },
      reserveVouchers: async () => {
        throw new Error("the service is away");
      },
      releasePoints: async () => {},
    },
  };
  return { deps, held, errors };
}

test("restores the points of a session when its vouchers cannot be locked", async () => {
  const { deps, held, errors } = besideAnOutage();
  const toReserve = { applicable: [card], context: { cards: new Map() } };
  await expect(lockRedeemables(deps, call, hold, toReserve)).rejects.toThrow("the service is away");
  expect(held).toEqual([[70n], [20n]]);
  expect(errors).toEqual([]);
});
