import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { type Account, refundAccount, debitAccount, expireLots, spendableLots } from "./account.ts";
import { type Card, type LotChange, type NewLedgerEntry, newCard } from "./card.ts";
import { keyOf } from "./key.ts";
import { addDays, type LocalDate } from "./local-date.ts";
import { decideMovements, type PointsMovement } from "./move-points.ts";

const PROJECT = "proj_1";
const CARD = { projectId: PROJECT, cardId: "v_1", initialPoints: 100n };
const KEY = keyOf(PROJECT, CARD.cardId);
const START = "2026-03-01";

/** An account, and the changes of its points; entries are collected in order. */
function openAccount(initialPoints = CARD.initialPoints) {
  let account: Account = { card: newCard({ ...CARD, initialPoints }), lots: [] };
  let count = 0;
  const entries: NewLedgerEntry[] = [];
  const newId = (prefix: string) => `${prefix}_${String((count += 1)).padStart(4, "0")}`;
  const newLotId = () => newId("lopb");
  const apply = ({
    account: after,
    entry,
  }: {
    account: Account;
    entry: Omit<NewLedgerEntry, "id">;
  }) => {
    account = after;
    entries.push({ ...entry, id: newId("vtx") });
  };
  return {
    entries,
    newLotId,
    get account() {
      return account;
    },
    get card() {
      return account.card;
    },
    move(movement: Partial<PointsMovement> & Pick<PointsMovement, "type" | "points">) {
      const full = { card: CARD, cause: newId("cause"), at: 0, expiredBefore: START, ...movement };
      const result = decideMovements([full], {
        accounts: new Map([[KEY, account]]),
        locks: [],
        recorded: new Map(),
        newId: () => newId("vtx"),
        newLotId,
      });
      account = result.accounts.get(KEY)!;
      entries.push(...result.entries);
      return result.decisions[0]!;
    },
    redeem(points: bigint): readonly LotChange[] {
      const change = debitAccount(
        account,
        { points, figure: "redeemedPoints" },
        { type: "POINTS_REDEMPTION", cause: newId("ps"), at: 0 },
      );
      apply(change);
      return change.entry.lots;
    },
    refund(
      points: bigint,
      taken: readonly LotChange[],
      today: LocalDate,
      expiresOn: LocalDate | null,
    ) {
      const fields = { type: "POINTS_REFUND" as const, cause: newId("rr"), at: 0, newLotId };
      apply(refundAccount(account, { points, taken, today, expiresOn }, fields));
    },
    expire(today: LocalDate) {
      const change = expireLots(account, today, { at: 0, newLotId });
      if (change !== null) apply(change);
      return change;
    },
    hold(heldPoints: bigint) {
      account = { ...account, card: { ...account.card, heldPoints } };
    },
    lots: () =>
      account.lots.map((lot) => [lot.expiresOn, lot.points, lot.expired ? "expired" : "active"]),
  };
}

const add = (points: bigint, expiresOn: LocalDate | null = null) =>
  ({ type: "POINTS_ADDITION", points, expiresOn }) as const;

describe("decideMovements", () => {
  test("merges credits of one date into one lot", () => {
    const account = openAccount();
    account.move(add(10n, "2026-04-30"));
    account.move(add(5n, "2026-04-30"));
    account.move(add(7n, "2026-03-31"));
    expect(account.lots()).toEqual([
      ["2026-03-31", 7n, "active"],
      ["2026-04-30", 15n, "active"],
    ]);
    expect(account.card).toMatchObject({
      points: 122n,
      balance: 122n,
      nextExpiresOn: "2026-03-31",
      nextExpiringPoints: 7n,
    });
  });

  test("takes the points that expire first, and those that never expire last", () => {
    const account = openAccount();
    account.move(add(10n, "2026-04-30"));
    account.move(add(7n, "2026-03-31"));
    account.move({ type: "POINTS_REMOVAL", points: 9n });
    expect(account.lots()).toEqual([
      ["2026-03-31", 0n, "active"],
      ["2026-04-30", 8n, "active"],
    ]);
    account.move({ type: "POINTS_REMOVAL", points: 50n });
    expect(account.card).toMatchObject({
      subtractedPoints: 59n,
      balance: 58n,
      nextExpiresOn: null,
    });
    expect(account.entries.at(-1)).toMatchObject({
      points: -50n,
      balanceAfter: 58n,
      totalAfter: 58n,
    });
  });

  test("expires due points before the movement, in an entry of their own", () => {
    const account = openAccount(0n);
    account.move(add(10n, "2026-03-31"));
    const decision = account.move({
      type: "POINTS_REMOVAL",
      points: 1n,
      expiredBefore: "2026-04-01",
    });
    expect(decision).toEqual({ kind: "rejected", key: "loyalty_card_points_exceeded", limit: 0n });
    expect(account.entries.map(({ type, points }) => [type, points])).toEqual([
      ["POINTS_ADDITION", 10n],
      ["POINTS_EXPIRATION", -10n],
    ]);
    expect(account.lots()).toEqual([["2026-03-31", 10n, "expired"]]);
  });

  test("keeps points spendable to the end of their last day", () => {
    const account = openAccount(0n);
    account.move(add(10n, "2026-03-31"));
    expect(
      account.move({ type: "POINTS_REMOVAL", points: 10n, expiredBefore: "2026-03-31" }).kind,
    ).toBe("moved");
  });

  test("moves the points of a cause once", () => {
    const movement = { card: CARD, cause: "order:1", at: 0, expiredBefore: START, ...add(5n) };
    const { card } = openAccount();
    const { decisions, entries } = decideMovements([movement, movement], {
      accounts: new Map([[KEY, { card, lots: [] }]]),
      locks: [],
      recorded: new Map(),
      newId: () => "vtx_1",
      newLotId: () => "lopb_1",
    });
    expect(decisions.map(({ kind }) => kind)).toEqual(["moved", "repeated"]);
    expect(entries).toHaveLength(1);
  });

  test("rejects a credit beyond the most points of a card", () => {
    const account = openAccount(9_999_999_999_999n);
    expect(account.move(add(2n))).toMatchObject({
      kind: "rejected",
      key: "invalid_amount",
      limit: 1n,
    });
  });

  test("activates pending points of an earlier release while the card has room for those that are active", () => {
    const account = openAccount(9_999_999_999_000n);
    const { card } = account;
    const pending = (points: bigint) => ({
      card: CARD,
      cause: String(points),
      at: 0,
      expiredBefore: START,
      type: "PENDING_POINTS_ACTIVATION" as const,
      points,
      pendingPoints: -points,
    });
    const { decisions } = decideMovements(
      [
        pending(1_001n),
        pending(900n),
        { ...add(1n), card: CARD, cause: "add", at: 0, expiredBefore: START },
      ],
      {
        accounts: new Map([
          [KEY, { ...account.account, card: { ...card, pendingPoints: 1_901n } }],
        ]),
        locks: [],
        recorded: new Map(),
        newId: () => "vtx_1",
        newLotId: account.newLotId,
      },
    );
    expect(decisions).toMatchObject([
      { kind: "rejected", limit: 1_000n },
      { kind: "moved", card: { points: 9_999_999_999_900n, pendingPoints: 1_001n } },
      { kind: "rejected", limit: 0n },
    ]);
  });
});

describe("expireLots", () => {
  test("does not expire points of pending holds, and splits a lot that they use in part", () => {
    const account = openAccount(0n);
    account.move(add(10n, "2026-03-30"));
    account.move(add(10n, "2026-03-31"));
    account.hold(4n);
    account.expire("2026-04-01");
    expect(account.card).toMatchObject({ balance: 4n, expiredPoints: 16n });
    expect(account.lots()).toEqual([
      ["2026-03-30", 4n, "active"],
      ["2026-03-30", 6n, "expired"],
      ["2026-03-31", 10n, "expired"],
    ]);
    expect(account.entries.at(-1)).toMatchObject({
      points: -16n,
      lots: [
        { expiresOn: "2026-03-30", points: -6n },
        { expiresOn: "2026-03-31", points: -10n },
      ],
    });
  });
});

describe("refundAccount", () => {
  test("returns points to their lots, and points that have expired since to a lot of the new date", () => {
    const account = openAccount(100n);
    account.move(add(10n, "2026-03-31"));
    account.move(add(10n, "2026-05-31"));
    const taken = account.redeem(25n);
    account.refund(25n, taken, "2026-04-15", "2026-06-30");
    expect(account.lots()).toEqual([
      ["2026-03-31", 0n, "active"],
      ["2026-05-31", 10n, "active"],
      ["2026-06-30", 10n, "active"],
    ]);
    expect(account.card).toMatchObject({ balance: 120n, redeemedPoints: 0n });
  });
});

type Step =
  | { readonly kind: "credit"; readonly points: bigint; readonly days: number | null }
  | { readonly kind: "remove" | "redeem"; readonly share: number }
  | { readonly kind: "refund" }
  | { readonly kind: "pass"; readonly days: number };

const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant("credit" as const),
      points: fc.bigInt({ min: 1n, max: 1_000n }),
      days: fc.option(fc.nat(20)),
    }),
    fc.record({
      kind: fc.constantFrom("remove" as const, "redeem" as const),
      share: fc.integer({ min: 1, max: 100 }),
    }),
    fc.record({ kind: fc.constant("refund" as const) }),
    fc.record({ kind: fc.constant("pass" as const), days: fc.nat(15) }),
  ),
  { maxLength: 40 },
);

/** I1–I5 of a card, from its entries alone. */
function expectInvariants(card: Card, entries: readonly NewLedgerEntry[], account: Account) {
  const { points, redeemedPoints, subtractedPoints, expiredPoints, balance } = card;
  expect(balance).toBe(points - redeemedPoints - subtractedPoints - expiredPoints);
  expect(balance >= 0n).toBe(true);
  let running = CARD.initialPoints;
  const byDate = new Map<LocalDate, bigint>();
  for (const entry of entries) {
    running += entry.points;
    expect(entry.balanceAfter).toBe(running);
    for (const { expiresOn, points: change } of entry.lots)
      byDate.set(expiresOn, (byDate.get(expiresOn) ?? 0n) + change);
  }
  expect(balance).toBe(running);
  const active = account.lots.filter(({ expired }) => !expired);
  for (const { expiresOn, points: left } of active) expect(left).toBe(byDate.get(expiresOn));
  const dated = active.reduce((sum, lot) => sum + lot.points, 0n);
  expect(dated <= balance).toBe(true);
  const ofRedemptions = entries
    .filter(({ type }) => type === "POINTS_REDEMPTION" || type === "POINTS_REFUND")
    .reduce((sum, entry) => sum + entry.points, 0n);
  expect(redeemedPoints).toBe(-ofRedemptions);
}

test("keeps the invariants of a card over every sequence of changes", () => {
  fc.assert(
    fc.property(steps, (sequence: readonly Step[]) => {
      const account = openAccount();
      const redemptions: { points: bigint; taken: readonly LotChange[] }[] = [];
      let today = START;
      for (const step of sequence) {
        account.expire(today);
        const part = (share: number): bigint => (account.card.balance * BigInt(share)) / 100n;
        if (step.kind === "pass") today = addDays(today, step.days);
        else if (step.kind === "credit")
          account.move({
            ...add(step.points, step.days === null ? null : addDays(today, step.days)),
            expiredBefore: today,
          });
        else if (step.kind === "remove" && part(step.share) > 0n)
          account.move({ type: "POINTS_REMOVAL", points: part(step.share), expiredBefore: today });
        else if (step.kind === "redeem" && part(step.share) > 0n) {
          const points = part(step.share);
          redemptions.push({ points, taken: account.redeem(points) });
        } else if (step.kind === "refund") {
          const redemption = redemptions.pop();
          if (redemption !== undefined)
            account.refund(redemption.points, redemption.taken, today, addDays(today, 3));
        }
        expectInvariants(account.card, account.entries, account.account);
        const next = spendableLots(account.account, START).find(({ points }) => points > 0n);
        expect(account.card.nextExpiresOn).toBe(next?.expiresOn ?? null);
      }
    }),
  );
});
