import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { type CommitCommand, decideCommits, type Part } from "./commit.ts";
import { NO_LOCKS } from "./session-locks.ts";
import { rowKey, type VoucherUsage } from "./usage.ts";

const PROJECT = "proj_1";

const usageOf = (overrides: Partial<VoucherUsage> = {}): VoucherUsage => ({
  projectId: PROJECT,
  voucherId: "v_1",
  definitionVersion: 1n,
  deleted: false,
  quantity: null,
  redeemedQuantity: 0n,
  amount: null,
  balance: null,
  redeemedAmount: 0n,
  reserved: false,
  version: 0n,
  ledgerVersion: 0n,
  ...overrides,
});

const partOf = (overrides: Partial<Part> = {}): Part => ({
  voucherId: "v_1",
  tierId: null,
  definitionVersion: 1n,
  credits: 0n,
  holdId: null,
  campaignId: null,
  orderAmount: 0n,
  discountedAmount: 0n,
  units: [],
  guards: [],
  ...overrides,
});

const commandOf = (overrides: Partial<CommitCommand> = {}): CommitCommand => ({
  projectId: PROJECT,
  idempotency: null,
  at: 0,
  customerId: null,
  channelId: "app_1",
  sessionKey: null,
  parts: [partOf()],
  isRejection: false,
  isPartial: false,
  ...overrides,
});

const keyOf = (key: string, byte = 1) => ({ key, requestHash: new Uint8Array([byte]) });

const decide = (
  commands: readonly CommitCommand[],
  usages: readonly VoucherUsage[],
  storedHashes: Readonly<Record<string, number>> = {},
  held: readonly string[] = [],
) =>
  decideCommits({
    commands,
    usages: new Map(usages.map((usage) => [rowKey(usage.projectId, usage.voucherId), usage])),
    lockedByOthers: new Set(held.map((voucherId) => rowKey(PROJECT, voucherId))),
    storedHashes: new Map(
      Object.entries(storedHashes).map(([key, byte]) => [
        rowKey(PROJECT, key),
        new Uint8Array([byte]),
      ]),
    ),
    counts: [],
    locks: NO_LOCKS,
    claimedHolds: new Set([rowKey(PROJECT, "ps_used")]),
  });

const gift = (balance: bigint, voucherId = "v_1"): VoucherUsage =>
  usageOf({ voucherId, amount: balance, balance, ledgerVersion: 1n });

describe("decideCommits", () => {
  test("returns stale for a points hold that was used or released", () => {
    const usages = [usageOf(), usageOf({ voucherId: "v_2" })];
    const using = (holdId: string) => {
      const parts = [partOf(), partOf({ voucherId: "v_2", holdId })];
      return decide([commandOf({ parts })], usages);
    };
    expect(using("ps_used")).toMatchObject([{ kind: "stale" }]);
    expect(using("ps_other")).toMatchObject([{ kind: "committed" }]);
  });

  test("redeems once, and returns the usage right after", () => {
    const [decision] = decide([commandOf()], [usageOf({ quantity: 2n })]);
    expect(decision).toEqual({
      kind: "committed",
      usages: [usageOf({ quantity: 2n, redeemedQuantity: 1n, version: 1n })],
    });
  });

  test("returns locked for rows that others lock, unless the key has a stored response", () => {
    const idempotency = keyOf("again");
    const both = [partOf(), partOf({ voucherId: "v_2" })];
    const commands = [
      commandOf({ parts: both, idempotency }),
      commandOf({ parts: both, idempotency }),
      commandOf({ parts: both, idempotency: keyOf("answered") }),
      commandOf({ parts: both, isRejection: true }),
      commandOf(),
    ];
    const decisions = decide(commands, [usageOf()], { answered: 1 }, ["v_2"]);
    expect(decisions).toEqual([
      { kind: "locked", part: 1 },
      { kind: "locked", part: 1 },
      { kind: "replayed", position: null },
      { kind: "record_rejection" },
      { kind: "committed", usages: [usageOf({ redeemedQuantity: 1n, version: 1n })] },
    ]);
  });

  test("decides each command on the state that the previous ones left", () => {
    const commands = [commandOf(), commandOf(), commandOf()];
    const kinds = decide(commands, [usageOf({ quantity: 2n })]).map(({ kind }) => kind);
    expect(kinds).toEqual(["committed", "committed", "rejected"]);
  });

  test("rejects credits beyond the balance without using any", () => {
    const part = partOf({ credits: 60n });
    const decisions = decide(
      [commandOf({ parts: [part] }), commandOf({ parts: [part] })],
      [gift(100n)],
    );
    expect(decisions[0]).toMatchObject({
      kind: "committed",
      usages: [{ balance: 40n, ledgerVersion: 2n }],
    });
    expect(decisions[1]).toEqual({
      kind: "rejected",
      key: "gift_amount_exceeded",
      part: 0,
      remaining: 40n,
    });
  });

  test("a redemption without credits adds no ledger entry", () => {
    const [decision] = decide([commandOf()], [gift(100n)]);
    expect(decision).toMatchObject({ usages: [{ balance: 100n, ledgerVersion: 1n }] });
  });

  test("redeems all vouchers of a command or none", () => {
    const both = commandOf({
      parts: [partOf({ credits: 10n }), partOf({ voucherId: "v_2" })],
    });
    const after = commandOf({ parts: [partOf({ credits: 100n })] });
    const spent = usageOf({ voucherId: "v_2", quantity: 1n, redeemedQuantity: 1n });
    expect(decide([both, after], [gift(100n), spent])).toMatchObject([
      { kind: "rejected", key: "quantity_exceeded", part: 1 },
      { kind: "committed", usages: [{ balance: 0n }] },
    ]);
  });

  test("redeems twice for a command with the same voucher twice", () => {
    const twice = commandOf({ parts: [partOf(), partOf()] });
    expect(decide([twice], [usageOf({ quantity: 1n })])[0]).toMatchObject({
      kind: "rejected",
      part: 1,
    });
    expect(
      decide([twice, commandOf()], [usageOf({ quantity: 2n })]).map(({ kind }) => kind),
    ).toEqual(["committed", "rejected"]);
  });

  test("returns stale with all conflicts for a partial command", () => {
    const used = usageOf({ voucherId: "v_2", quantity: 1n, redeemedQuantity: 1n });
    const both = [partOf(), partOf({ voucherId: "v_2" })];
    const commands = [
      commandOf({ parts: both, isPartial: true, idempotency: keyOf("a") }),
      commandOf({ parts: [partOf(), partOf({ voucherId: "v_3" })], isPartial: true }),
      commandOf({ parts: [partOf()], isPartial: true, idempotency: keyOf("a") }),
    ];
    expect(decide(commands, [usageOf(), used])).toMatchObject([
      { kind: "stale", conflicts: [{ kind: "rejected", key: "quantity_exceeded", part: 1 }] },
      { kind: "stale", conflicts: [] },
      { kind: "committed", usages: [{ redeemedQuantity: 1n }] },
    ]);
  });

  test.each([
    ["never existed", []],
    ["was deleted", [usageOf({ deleted: true, definitionVersion: 2n })]],
  ] as const)("a voucher that %s is reported as deleted", (_name, usages) => {
    expect(decide([commandOf()], usages)).toEqual([{ kind: "deleted", part: 0 }]);
  });

  test("returns stale for another definition, also when a guard fails too", () => {
    const changed = usageOf({ definitionVersion: 2n, quantity: 0n });
    expect(decide([commandOf()], [changed])).toEqual([{ kind: "stale", conflicts: [] }]);
  });

  test("records a rejection without reading the voucher", () => {
    expect(decide([commandOf({ isRejection: true })], [])).toEqual([{ kind: "record_rejection" }]);
  });

  describe("with an idempotency key", () => {
    test("replays the response of an earlier batch, also for a rejection", () => {
      const commands = [
        commandOf({ idempotency: keyOf("a") }),
        commandOf({ idempotency: keyOf("a"), isRejection: true }),
      ];
      expect(decide(commands, [usageOf()], { a: 1 })).toEqual([
        { kind: "replayed", position: null },
        { kind: "replayed", position: null },
      ]);
    });

    test("rejects the key of an earlier batch for another request", () => {
      const [decision] = decide([commandOf({ idempotency: keyOf("a", 2) })], [usageOf()], { a: 1 });
      expect(decision).toEqual({ kind: "key_reused" });
    });

    test("replays and rejects within one batch alike", () => {
      const commands = [1, 1, 2].map((byte) => commandOf({ idempotency: keyOf("a", byte) }));
      expect(decide(commands, [usageOf()]).map(({ kind }) => kind)).toEqual([
        "committed",
        "replayed",
        "key_reused",
      ]);
    });

    test("a key belongs to its project", () => {
      const other = { projectId: "proj_2", idempotency: keyOf("a") };
      const usages = [usageOf(), usageOf({ projectId: "proj_2" })];
      const commands = [commandOf({ idempotency: keyOf("a") }), commandOf(other)];
      expect(decide(commands, usages).map(({ kind }) => kind)).toEqual(["committed", "committed"]);
    });

    test("a stale command leaves its key free", () => {
      const stale = commandOf({
        idempotency: keyOf("a"),
        parts: [partOf({ definitionVersion: 9n })],
      });
      const commands = [stale, commandOf({ idempotency: keyOf("a") })];
      expect(decide(commands, [usageOf()]).map(({ kind }) => kind)).toEqual(["stale", "committed"]);
    });
  });

  test("changes counters by the committed redemptions only, and never violates a guard", () => {
    const part = fc
      .record({
        voucherId: fc.constantFrom("v_1", "v_2", "v_3"),
        definitionVersion: fc.constantFrom(1n, 1n, 1n, 2n),
        credits: fc.bigInt(0n, 40n),
      })
      .map(partOf);
    const command = fc.record({
      projectId: fc.constant(PROJECT),
      idempotency: fc.option(
        fc.record({
          key: fc.constantFrom("a", "b", "c", "d"),
          requestHash: fc.constantFrom(new Uint8Array([1]), new Uint8Array([2])),
        }),
      ),
      parts: fc.array(part, { minLength: 1, maxLength: 3 }),
      rejected: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(command.map(commandOf), { maxLength: 60 }), (commands) => {
        const start = [
          usageOf({ quantity: 5n }),
          { ...gift(100n, "v_2"), quantity: 7n },
          gift(30n, "v_3"),
        ];
        const decisions = decide(commands, start);
        let model = new Map(start.map((usage) => [usage.voucherId, usage]));
        for (const [index, decision] of decisions.entries()) {
          if (decision.kind !== "committed") continue;
          const next = new Map(model);
          for (const [position, after] of decision.usages.entries()) {
            if (after === null) throw new Error("there are no tiers here");
            const before = next.get(after.voucherId);
            const credits = commands[index]?.parts[position]?.credits ?? 0n;
            expect(after.redeemedQuantity).toBe((before?.redeemedQuantity ?? 0n) + 1n);
            expect(after.redeemedAmount).toBe((before?.redeemedAmount ?? 0n) + credits);
            if (after.quantity !== null)
              expect(after.redeemedQuantity <= after.quantity).toBe(true);
            if (after.balance === null) expect(credits).toBe(0n);
            else expect(after.balance).toBe((after.amount ?? 0n) - after.redeemedAmount);
            expect((after.balance ?? 0n) >= 0n).toBe(true);
            next.set(after.voucherId, after);
          }
          model = next;
        }
        // A key has one effect at most.
        const effects = decisions.flatMap(({ kind }, index) =>
          kind === "committed" ? (commands[index]?.idempotency?.key ?? []) : [],
        );
        expect(new Set(effects).size).toBe(effects.length);
      }),
    );
  });
});
