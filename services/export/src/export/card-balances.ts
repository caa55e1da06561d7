import { ApiError } from "@scrip/errors";
import type { CardBalances } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { type Call, orIfUnimplemented } from "@scrip/rpc";

import type { Clients } from "../clients.ts";

/** A row of the owner, by field. */
export type OwnerRow = Readonly<Record<string, string>>;

/** The points of the loyalty cards of one file. */
export type CardReader = AsyncDisposable & {
  /** Opens the snapshot that all lookups read; the first lookup does so otherwise. */
  readonly open: () => Promise<unknown>;
  /** Points of those of the vouchers that are loyalty cards, by id. Each row is looked up once. */
  readonly balancesOf: (
    rows: readonly OwnerRow[],
    call: Call,
  ) => Promise<ReadonlyMap<string, CardBalances>>;
};

/**
 * Reads the points of all cards in one snapshot, so that points which move between cards while the file is written count
 * once. Open it when the rows are already being read: a redemption among them has taken its points.
 * `file` is the call that writes the file.
 */
export function createCardReader(cards: Clients["cards"], file: Call): CardReader {
  const opened = new AsyncDisposableStack();
  let snapshot: Promise<string | undefined> | undefined;
  const open = () => (snapshot ??= openSnapshot(cards, file, opened));
  const lookups = new WeakMap<OwnerRow, Promise<ReadonlyMap<string, CardBalances>>>();

  async function lookUp(
    rows: readonly OwnerRow[],
    call: Call,
  ): Promise<ReadonlyMap<string, CardBalances>> {
    const loyalty = rows.filter((row) => row["voucher_type"] === "LOYALTY_CARD");
    if (loyalty.length === 0) return new Map();
    const name = await open();
    const { balances, snapshot: read } = await cards.getCardBalances(
      {
        cards: loyalty.map(({ id = "", value = "" }) => ({
          projectId: file.project.id,
          cardId: id,
          initialPoints: BigInt(value || "0"),
        })),
        ...(name !== undefined && { snapshot: name }),
      },
      call,
    );
    if (read !== name) {
      const cause = new Error(
        "A replica of an earlier release of loyalty has ignored the snapshot",
      );
      throw new ApiError("service_unavailable", { cause });
    }
    return new Map(
      loyalty.flatMap(({ id = "" }, at) => {
        const found = balances[at];
        return found === undefined ? [] : [[id, found] as const];
      }),
    );
  }

  return {
    open,
    async balancesOf(rows, call) {
      const unknown = rows.filter((row) => !lookups.has(row));
      const lookup = lookUp(unknown, call);
      for (const row of unknown) lookups.set(row, lookup);
      const needed = new Set(rows.map((row) => lookups.get(row) ?? lookup));
      const found = await Promise.all(needed);
      return new Map(found.flatMap((balances) => [...balances]));
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Undefined: the figures are those of each lookup. `opened` closes the snapshot. */
async function openSnapshot(
  cards: Clients["cards"],
  file: Call,
  opened: AsyncDisposableStack,
): Promise<string | undefined> {
  const leaving = new AbortController();
  const signal = AbortSignal.any([leaving.signal, ...(file.signal ? [file.signal] : [])]);
  const stream = cards.openCardSnapshot({}, { ...file, signal, idempotency: undefined });
  const names = stream[Symbol.asyncIterator]();
  const first = await orIfUnimplemented(names.next(), undefined);
  const reading = readOn(names);
  opened.defer(() => {
    leaving.abort();
    return reading;
  });
  return first?.done === false ? first.value.snapshot : undefined;
}

/** Reads the stream to keep the snapshot open until the stream ends. If it ends early, the next lookup fails. */
async function readOn(names: AsyncIterator<unknown>): Promise<void> {
  try {
    while ((await names.next()).done !== true);
  } catch {
    // It was left, or the next lookup fails.
  }
}
