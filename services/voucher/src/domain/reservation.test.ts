import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { type CommitCommand, decideCommits, type Part } from "./commit.ts";
import { decideReservations, type ReserveCommand } from "./reservation.ts";
import type { LoadedLocks, SessionLock } from "./session-locks.ts";
import { rowKey, type VoucherUsage } from "./usage.ts";

const PROJECT = "proj_1";

const usageOf = (voucherId: string, overrides: Partial<VoucherUsage>): VoucherUsage => ({
  projectId: PROJECT,
  voucherId,
  definitionVersion: 1n,
  deleted: false,
  quantity: null,
  redeemedQuantity: 0n,
  amount: null,
  balance: null,
  redeemedAmount: 0n,
  reserved: true,
  version: 0n,
  ledgerVersion: 0n,
  ...overrides,
});

const START = [
  usageOf("v_1", { quantity: 3n }),
  usageOf("v_2", { quantity: 6n, amount: 100n, balance: 100n }),
];

/** Locks as they are read back: all of each voucher, and all of each session. */
const knownOf = (locks: readonly SessionLock[]): LoadedLocks => ({
  totals: new Map(
    START.map(({ voucherId }) => {
      const held = locks.filter((lock) => lock.voucherId === voucherId);
      const credits = held.reduce((sum, lock) => sum + lock.credits, 0n);
      return [rowKey(PROJECT, voucherId), { quantity: BigInt(held.length), credits }];
    }),
  ),
  own: locks,
});

const session = fc.constantFrom("a", "b", "c", "d", "e");
const wish = fc.record({
  voucherId: fc.constantFrom("v_1", "v_2"),
  credits: fc.constantFrom(0n, 30n, 60n),
});
const wishes = fc.uniqueArray(wish, { selector: (one) => one.voucherId, maxLength: 2 });

type Step =
  | { readonly kind: "reserve"; readonly commands: readonly ReserveCommand[] }
  | { readonly kind: "redeem"; readonly commands: readonly CommitCommand[] };

const creditsOf = (voucherId: string, credits: bigint): bigint =>
  voucherId === "v_2" ? credits : 0n;

const reserveCommand: fc.Arbitrary<ReserveCommand> = fc
  .record({ sessionKey: session, wishes })
  .map(({ sessionKey, wishes: wanted }) => ({
    projectId: PROJECT,
    sessionKey,
    reservations: wanted.map(({ voucherId, credits }) => ({
      voucherId,
      credits: creditsOf(voucherId, credits),
      definitionVersion: 1n,
    })),
  }));

const partOf = ({ voucherId, credits }: { voucherId: string; credits: bigint }): Part => ({
  voucherId,
  tierId: null,
  definitionVersion: 1n,
  credits: creditsOf(voucherId, credits),
  holdId: null,
  campaignId: null,
  orderAmount: 0n,
  discountedAmount: 0n,
  units: [],
  guards: [],
});

const commitCommand: fc.Arbitrary<CommitCommand> = fc
  .record({ sessionKey: fc.option(session), wishes: wishes.filter((each) => each.length > 0) })
  .map(({ sessionKey, wishes: wanted }) => ({
    projectId: PROJECT,
    idempotency: null,
    at: 0,
    customerId: null,
    channelId: "app_1",
    sessionKey,
    parts: wanted.map(partOf),
    isRejection: false,
    isPartial: false,
  }));

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("reserve" as const),
    commands: fc.array(reserveCommand, { maxLength: 5 }),
  }),
  fc.record({
    kind: fc.constant("redeem" as const),
    commands: fc.array(commitCommand, { maxLength: 5 }),
  }),
);

describe("decideReservations and decideCommits", () => {
  test("never lock or redeem more than the voucher has, and honour locks", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let usages = new Map(START.map((usage) => [rowKey(PROJECT, usage.voucherId), usage]));
        let locks: readonly SessionLock[] = [];
        const without = (key: string | null) => locks.filter((lock) => lock.sessionKey !== key);
        for (const { kind, commands } of steps) {
          if (kind === "reserve") {
            const decisions = decideReservations({
              commands,
              usages,
              lockedByOthers: new Set(),
              locks: knownOf(locks),
            });
            for (const [index, { sessionKey, reservations }] of commands.entries()) {
              if (decisions[index]?.kind !== "reserved") continue;
              const held = reservations.map(({ voucherId, credits }) => ({
                projectId: PROJECT,
                sessionKey,
                voucherId,
                credits,
              }));
              locks = [...without(sessionKey), ...held];
            }
          } else {
            const decisions = decideCommits({
              commands,
              usages,
              lockedByOthers: new Set(),
              storedHashes: new Map(),
              counts: [],
              locks: knownOf(locks),
              claimedHolds: new Set(),
            });
            for (const [index, decision] of decisions.entries()) {
              const { sessionKey = null, parts = [] } = commands[index] ?? {};
              const own = locks.filter((lock) => lock.sessionKey === sessionKey);
              // A session gets what it holds, whatever others want.
              if (
                own.length > 0 &&
                parts.every((part) =>
                  own.some(
                    (lock) => lock.voucherId === part.voucherId && lock.credits >= part.credits,
                  ),
                )
              ) {
                expect(decision.kind).toBe("committed");
              }
              if (decision.kind !== "committed") continue;
              if (sessionKey !== null) locks = without(sessionKey);
              const next = new Map(usages);
              for (const usage of decision.usages) {
                if (usage === null) throw new Error("there are no tiers here");
                // The mark is for the test to keep: START's locks are always read.
                next.set(rowKey(PROJECT, usage.voucherId), { ...usage, reserved: true });
              }
              usages = next;
            }
          }
          for (const [key, usage] of usages) {
            const held = knownOf(locks).totals.get(key) ?? { quantity: 0n, credits: 0n };
            expect(usage.redeemedQuantity + held.quantity <= (usage.quantity ?? 0n)).toBe(true);
            expect(held.credits <= (usage.balance ?? 0n)).toBe(true);
          }
        }
      }),
    );
  });
});
