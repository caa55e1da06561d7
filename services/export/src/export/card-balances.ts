import { Code, ConnectError } from "@connectrpc/connect";
import type { CardBalances } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Call } from "@scrip/rpc";

import type { Clients } from "../clients.ts";

/** A row of the owner, by field. */
export type OwnerRow = Readonly<Record<string, string>>;

/** The points of the loyalty cards of one file. */
export type CardReader = AsyncDisposable & {
  /** Points of those of the vouchers that are loyalty cards, by id. Several fields of the same rows share a lookup. */
  readonly balancesOf: (
    rows: readonly OwnerRow[],
    call: Call,
  ) => Promise<ReadonlyMap<string, CardBalances>>;
};

/**
 * Reads the points of all cards in one snapshot, so that points which move between cards while the file is written count
 * once. It is opened with the first lookup, when the rows are already being read: a redemption among them has taken its points.
 * `file` is the call that writes the file.
 */
export function createCardReader(cards: Clients["cards"], file: Call): CardReader {
  const opened = new AsyncDisposableStack();
  let snapshot: Promise<string | undefined> | undefined;
  const lookups = new WeakMap<readonly OwnerRow[], Promise<ReadonlyMap<string, CardBalances>>>();

  async function open(): Promise<string | undefined> {
    const stream = cards.openCardSnapshot({}, { ...file, idempotency: undefined });
    const names = stream[Symbol.asyncIterator]();
    opened.defer(async () => void (await names.return?.()));
    try {
      const first = await names.next();
      return first.done === true ? undefined : first.value.snapshot;
    } catch (error) {
      // A loyalty service of the previous release, whose figures are those of each lookup.
      if (ConnectError.from(error).code === Code.Unimplemented) return undefined;
      throw error;
    }
  }

  async function lookUp(
    rows: readonly OwnerRow[],
    call: Call,
  ): Promise<ReadonlyMap<string, CardBalances>> {
    const loyalty = rows.filter((row) => row["voucher_type"] === "LOYALTY_CARD");
    if (loyalty.length === 0) return new Map();
    const name = await (snapshot ??= open());
    const { balances } = await cards.getCardBalances(
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
    return new Map(
      loyalty.flatMap(({ id = "" }, at) => {
        const found = balances[at];
        return found === undefined ? [] : [[id, found] as const];
      }),
    );
  }

  return {
    balancesOf(rows, call) {
      const known = lookups.get(rows) ?? lookUp(rows, call);
      lookups.set(rows, known);
      return known;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
