import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  boundOf,
  cursorBehind,
  cursorFromTimestamp,
  type CursorOrder,
  type CursorTimestamp,
  cursorToTimestamp,
  type TimeCursor,
} from "./time-cursor.ts";

const NOON = Date.UTC(2026, 0, 1, 12);
const DESCENDING = { descending: true, nullable: false };

type Item = { readonly id: number; readonly at: number | null };

const order = fc.record({ descending: fc.boolean(), nullable: fc.constant(true) });
const time = fc.option(
  fc.oneof(
    fc.integer({ min: NOON, max: NOON + 3 }),
    fc.integer({ min: -1002, max: -998 }),
    fc.integer({ min: 999, max: 1001 }),
  ),
);

/** Items in the order of the list: ties by id, items without a time last. */
const sorted = (times: readonly (number | null)[], { descending }: CursorOrder): readonly Item[] =>
  times
    .map((at, id) => ({ id, at }))
    .toSorted((a, b) => {
      if (a.at === null || b.at === null) {
        if (a.at !== b.at) return a.at === null ? 1 : -1;
      } else if (a.at !== b.at) return descending ? b.at - a.at : a.at - b.at;
      return descending ? b.id - a.id : a.id - b.id;
    });

/** The items behind a position, as a database finds them. */
function behind(items: readonly Item[], cursor: TimeCursor, by: CursorOrder): readonly Item[] {
  const { at, seen } = cursor;
  const skipped = seen === "all" ? 0 : seen;
  if (at === null) return items.filter((item) => item.at === null).slice(skipped);
  const { operator, ms } = boundOf({ at, seen }, by);
  const follows = (value: number) => (operator === "<" ? value < ms : value >= ms);
  return items.filter((item) => item.at === null || follows(item.at)).slice(skipped);
}

function readAll(items: readonly Item[], limits: readonly number[], by: CursorOrder) {
  const read: Item[] = [];
  let sent: CursorTimestamp | null = null;
  for (let page = 0; ; page += 1) {
    const start: TimeCursor | null = sent && cursorFromTimestamp(sent, by);
    const rest = start === null ? items : behind(items, start, by);
    const [first, ...others] = rest.slice(0, limits[page % limits.length]);
    if (first === undefined) return read;
    read.push(first, ...others);
    sent = cursorToTimestamp(cursorBehind([first.at, ...others.map(({ at }) => at)], start), by);
  }
}

describe("a cursor by time", () => {
  test("returns every item exactly once, however many share a millisecond", () => {
    const limits = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(time, { maxLength: 40 }), limits, order, (times, sizes, by) => {
        const items = sorted(times, by);
        expect(readAll(items, sizes, by)).toEqual(items);
      }),
    );
  });

  test("is read as it was written", () => {
    const seen = fc.oneof(fc.integer({ min: 1, max: 999_999 }), fc.constant("all" as const));
    const dates = fc.date({
      noInvalidDate: true,
      min: new Date("0002-01-01T00:00:00Z"),
      max: new Date("9998-12-31T23:59:59.999Z"),
    });
    fc.assert(
      fc.property(dates, seen, order, (date, count, by) => {
        const cursor = { at: date.getTime(), seen: count };
        const timestamp = cursorToTimestamp(cursor, by);
        expect(cursorFromTimestamp(timestamp, by)).toEqual(cursor);
        const wholeMs = Math.floor(timestamp.nanos / 1_000_000);
        expect(Number(timestamp.seconds) * 1000 + wholeMs).toBe(cursor.at);
      }),
    );
  });

  test("with whole milliseconds is behind all items of its millisecond", () => {
    const cursor = cursorFromTimestamp({ seconds: 1n, nanos: 5_000_000 }, DESCENDING);
    expect(cursor).toEqual({ at: 1005, seen: "all" });
    expect(boundOf({ at: 1005, seen: "all" }, DESCENDING)).toEqual({ operator: "<", ms: 1005 });
    const ascending = { ...DESCENDING, descending: false };
    expect(boundOf({ at: 1005, seen: "all" }, ascending)).toEqual({ operator: ">=", ms: 1006 });
  });

  test("counts the items of a millisecond over several pages", () => {
    const first = cursorBehind([NOON + 1, NOON, NOON], null);
    expect(first).toEqual({ at: NOON, seen: 2 });
    expect(cursorBehind([NOON, NOON, NOON], first)).toEqual({ at: NOON, seen: 5 });
    expect(cursorBehind([NOON, NOON, NOON - 1], first)).toEqual({ at: NOON - 1, seen: 1 });
    expect(cursorToTimestamp({ at: NOON, seen: 5 }, DESCENDING).nanos).toBe(5);
  });

  test("goes on behind a millisecond with more items than it can count", () => {
    const full = cursorToTimestamp({ at: NOON, seen: 999_999 }, DESCENDING);
    expect(cursorFromTimestamp(full, DESCENDING)).toEqual({ at: NOON, seen: 999_999 });
    const beyond = cursorToTimestamp({ at: NOON, seen: 1_000_000 }, DESCENDING);
    expect(cursorFromTimestamp(beyond, DESCENDING)).toEqual({ at: NOON, seen: "all" });
  });
});
