/** A google.protobuf.Timestamp. */
export type CursorTimestamp = {
  readonly $typeName: "google.protobuf.Timestamp";
  readonly seconds: bigint;
  readonly nanos: number;
};

export type CursorOrder = {
  readonly descending: boolean;
  /** Items can lack the time; they are last in both directions. */
  readonly nullable: boolean;
};

/**
 * A position in a list that is ordered by time. Sent as a timestamp whose nanoseconds behind the milliseconds hold
 * the number of items of that millisecond before the position (docs/filters-and-listing.md#cursors).
 */
export type TimeCursor = {
  /** Epoch milliseconds; null: among the items that have no time. */
  readonly at: number | null;
  /** Number of items at this time before the position, in the order of the list; `all`: behind each of them. */
  readonly seen: number | "all";
};

const NANOS_PER_MS = 1_000_000;
const MAX_SEEN = 999_999;
const MAX_SEEN_WITHOUT_TIME = 999_999_999;

/** Seconds in which no item lies; their nanoseconds count items without a time. */
const FIRST_SECOND = -62_135_596_800n;
const LAST_SECOND = 253_402_300_799n;

const secondBehindAll = ({ descending }: CursorOrder): bigint =>
  descending ? FIRST_SECOND : LAST_SECOND;

export function cursorFromTimestamp(
  { seconds, nanos }: Pick<CursorTimestamp, "seconds" | "nanos">,
  order: CursorOrder,
): TimeCursor {
  if (order.nullable && seconds === secondBehindAll(order)) return { at: null, seen: nanos };
  const seen = nanos % NANOS_PER_MS;
  const at = Number(seconds) * 1000 + (nanos - seen) / NANOS_PER_MS;
  return { at, seen: seen === 0 ? "all" : seen };
}

/** Beyond the largest count of a millisecond, the position is behind all of its items: pages never repeat. */
export function cursorToTimestamp({ at, seen }: TimeCursor, order: CursorOrder): CursorTimestamp {
  const $typeName = "google.protobuf.Timestamp";
  if (at === null) {
    const nanos = seen === "all" ? MAX_SEEN_WITHOUT_TIME : Math.min(seen, MAX_SEEN_WITHOUT_TIME);
    return { $typeName, seconds: secondBehindAll(order), nanos };
  }
  const seconds = Math.floor(at / 1000);
  const count = seen === "all" || seen > MAX_SEEN ? 0 : seen;
  return {
    $typeName,
    seconds: BigInt(seconds),
    nanos: (at - seconds * 1000) * NANOS_PER_MS + count,
  };
}

/** The position behind a page, which has items at these times and begins at `start`; null: at the first item. */
export function cursorBehind(
  times: readonly [number | null, ...(number | null)[]],
  start: TimeCursor | null,
): TimeCursor {
  const at = times.at(-1) ?? null;
  const seen = times.length - 1 - times.findLastIndex((time) => time !== at);
  const continues = seen === times.length && start !== null && start.at === at;
  return { at, seen: seen + (continues && start.seen !== "all" ? start.seen : 0) };
}

/** The bound of the times from the position on, including all items of its millisecond unless it is behind them. */
export function boundOf(
  { at, seen }: { readonly at: number; readonly seen: TimeCursor["seen"] },
  { descending }: CursorOrder,
): { readonly operator: "<" | ">="; readonly ms: number } {
  const isBehind = seen === "all";
  if (descending) return { operator: "<", ms: isBehind ? at : at + 1 };
  return { operator: ">=", ms: isBehind ? at + 1 : at };
}
