import type { MetadataValue } from "../../formula/value.ts";

/**
 * The operand is the metadata of a customer; the time is 2026-11-21T12:00 in Warsaw, a Saturday.
 */
export type OperatorCase = readonly [
  operator: string,
  operands: readonly MetadataValue[],
  /** Values that meet the condition, and values that do not; undefined is a missing one. */
  met: readonly (MetadataValue | undefined)[],
  unmet: readonly (MetadataValue | undefined)[],
];

export const operators: readonly OperatorCase[] = [
  // Numbers: exact, and never equal to texts.
  ["$is", [10], [10, 10.0, [1, 10]], [9.999999, "10", true, null, undefined, [], {}]],
  ["$is", [0.3], [0.3], [0.30000000000000004]],
  ["$is", [9007199254740991], [9007199254740991], [9007199254740990]],
  ["$is", [1, 2], [1, 2, [2]], [3, [3]]],
  ["$is_not", [10], [9, "10", undefined, null, [], {}, [1]], [10, [10]]],
  ["$is_not", [1, 2], [3], [1, 2, [3, 1]]],
  ["$in", [1, 2], [1, 2, [5, 2]], [3, undefined]],
  ["$not_in", [1, 2], [3, undefined, [3]], [1, 2, [3, 2]]],
  ["$less_than", [10], [9.99, -1], [10, 10.01, "9", [9], undefined]],
  ["$less_than_or_equal", [10], [10, 9], [10.0000001, undefined]],
  ["$more_than", [10], [10.0000001], [10, 9, "11", undefined]],
  ["$more_than_or_equal", [10], [10, 11], [9.9, undefined]],
  ["$greater_than", [10], [11], [10]],
  ["$greater_than_or_equal", [10], [10], [9]],
  ["$more_than", [0.1], [0.10000000000000002], [0.1]],

  // Texts: case-sensitive.
  ["$is", ["VIP"], ["VIP", ["x", "VIP"]], ["vip", "VIP ", 1, undefined]],
  ["$is_not", ["VIP"], ["vip", undefined], ["VIP"]],
  ["$in", ["a", "b"], ["a", "b"], ["c", "A", undefined]],
  ["$not_in", ["a", "b"], ["c", undefined], ["a", ["c", "b"]]],
  ["$starts_with", ["PL-"], ["PL-1"], ["xPL-", "pl-1", 5, undefined, ["PL-1"]]],
  ["$ends_with", ["@shop.com"], ["a@shop.com"], ["a@shop.com.pl", undefined]],
  ["$contains", ["ell"], ["hello", ["ell"]], ["help", ["hello"], undefined, 5]],
  ["$contains", [5], [[1, 5]], ["5", 5, [15]]],

  // Booleans.
  ["$is", [true], [true, [false, true]], [false, "true", 1, undefined]],
  ["$is_not", [true], [false, undefined], [true]],

  // Dates: a day is its start in the project's time zone.
  ["$is", ["2026-11-21"], ["2026-11-21", "2026-11-20T23:00:00Z"], ["2026-11-21T00:00:00Z", "x"]],
  ["$less_than", ["2026-11-21"], ["2026-11-20", "2026-11-20T22:59:59Z"], ["2026-11-21", 5, "x"]],
  ["$more_than", ["2026-11-21"], ["2026-11-20T23:00:00.001Z"], ["2026-11-20T23:00:00Z"]],
  ["$less_than_or_equal", ["2026-11-21"], ["2026-11-21"], ["2026-11-22"]],
  ["$more_than_or_equal", ["2026-11-21"], ["2026-11-21"], ["2026-11-20"]],
  [
    "$after",
    ["2026-11-21T10:00:00Z"],
    ["2026-11-21T10:00:01Z"],
    ["2026-11-21T10:00:00Z", undefined],
  ],
  ["$before", ["2026-11-21T10:00:00Z"], ["2026-11-21"], ["2026-11-21T11:00:00+01:00", 20261120]],
  ["$more_than_ago", [30], ["2026-10-21"], ["2026-10-22", "2026-12-31", undefined]],
  ["$less_than_ago", [30], ["2026-10-23", "2026-11-21"], ["2026-10-22", "2026-11-22"]],
  ["$is_days_ago", [1], ["2026-11-20", "2026-11-20T22:30:00Z"], ["2026-11-20T23:30:00Z"]],
  ["$is_days_ago", [0], ["2026-11-21", "2026-11-20T23:30:00Z"], ["2026-11-22"]],
  ["$more_than_future", [2], ["2026-11-24"], ["2026-11-23", "2026-11-20"]],
  ["$less_than_future", [2], ["2026-11-22", "2026-11-21"], ["2026-11-23", "2026-11-20"]],
  ["$is_days_in_future", [9], ["2026-11-30"], ["2026-11-29", "2026-12-01"]],
  ["$dow", [0, 6], ["2026-11-21", "2026-11-22"], ["2026-11-20", "2026-11-23", "x", undefined]],
  ["$dow", [1], ["2026-11-22T23:30:00Z"], ["2026-11-22T22:30:00Z"]],
  [
    "$timeframe",
    ["2026-03-01;P2D;P1D"],
    ["2026-03-01", "2026-03-03T12:00:00Z"],
    ["2026-03-02", "2026-02-27"],
  ],
  [
    "$timeframe",
    ["2026-03-01;P1D;PT1H"],
    ["2026-03-05T00:30:00+01:00"],
    ["2026-03-05T01:00:00+01:00"],
  ],
  [
    "$timeframe_absolute",
    ["2026-03-01;2026-03-31"],
    ["2026-03-01", "2026-03-31T21:59:59.999Z"],
    ["2026-02-28", "2026-03-31T22:00:00Z", undefined],
  ],
  [
    "$timeframe_daily_hours",
    ["18:00;20:01;2,3"],
    ["2026-11-24T17:00:00Z", "2026-11-25T19:01:00Z"],
    ["2026-11-24T16:59:59Z", "2026-11-25T19:01:00.001Z", "2026-11-26T18:00:00Z"],
  ],
  ["$timeframe_daily_hours", ["18:00;20:00"], ["2026-11-26T18:00:00Z"], ["2026-11-26T12:00:00Z"]],

  // Lists.
  ["$count", [2], [["a", "b"]], [["a"], [], "ab", 2, undefined]],
  ["$count_more", [1], [["a", "b"]], [["a"], undefined]],
  ["$count_less", [2], [["a"], []], [["a", "b"], undefined]],
  [
    "$not_differ",
    ["a", "b"],
    [
      ["b", "a"],
      ["a", "b", "a"],
    ],
    [["a"], ["a", "b", "c"], undefined],
  ],
  ["$not_intersect", ["a", "b"], [["c"], [], undefined, "c"], [["c", "b"], "a"]],
];

/** Conditions of `customer.metadata` that are rejected, and the message. */
export const rejectedConditions: readonly (readonly [object, string])[] = [
  [{}, "Rule 'customer.metadata' must have 'conditions'"],
  [{ $is: "x" }, "Rule 'customer.metadata': operator '$is' must have an array of operands"],
  [{ $is: [] }, "Rule 'customer.metadata': operator '$is' must have an operand"],
  [{ $like: ["x"] }, "Rule 'customer.metadata' does not support operator '$like'"],
  [{ is: ["x"] }, "Rule 'customer.metadata' does not support operator 'is'"],
  [{ $from: ["pc_1"] }, "Rule 'customer.metadata' does not support operator '$from'"],
  [
    { $is: [null] },
    "Rule 'customer.metadata': operator '$is' needs operands of type text, number or boolean",
  ],
  [
    { $is: [{ id: "x" }] },
    "Rule 'customer.metadata': operator '$is' needs operands of type text, number or boolean",
  ],
  [
    { $less_than: [1, 2] },
    "Rule 'customer.metadata': operator '$less_than' needs one operand, a number, date or date-time",
  ],
  [
    { $greater_than: ["many"] },
    "Rule 'customer.metadata': operator '$greater_than' needs one operand, a number, date or date-time",
  ],
  [
    { $after: [5] },
    "Rule 'customer.metadata': operator '$after' needs one operand, a date or date-time",
  ],
  [
    { $after: ["2026-02-30"] },
    "Rule 'customer.metadata': operator '$after' needs one operand, a date or date-time",
  ],
  [
    { $is_days_ago: [1.5] },
    "Rule 'customer.metadata': operator '$is_days_ago' needs one operand, a whole number from 0 to 36500",
  ],
  [
    { $count: [-1] },
    "Rule 'customer.metadata': operator '$count' needs one operand, a whole number from 0 to 36500",
  ],
  [
    { $dow: [7] },
    "Rule 'customer.metadata': operator '$dow' needs numbers from 0 (Sunday) to 6 (Saturday)",
  ],
  ...["2026-03-01;P2D", "P2D;P1D", "2026-03-01;P2D;1D", "2026-03-01;P2D;P1D;x", ""].map(
    (text): readonly [object, string] => [
      { $timeframe: [text] },
      `Rule 'customer.metadata': operator '$timeframe' needs one operand, a text such as "2026-03-01;P2D;P1D"`,
    ],
  ),
  [
    { $timeframe_absolute: ["2026-03-01"] },
    `Rule 'customer.metadata': operator '$timeframe_absolute' needs one operand, a text such as "2026-03-01;2026-03-31"`,
  ],
  ...["18:00", "18:00;25:00", "18:00;20:00;7", "18:00;18:00"].map(
    (text): readonly [object, string] => [
      { $timeframe_daily_hours: [text] },
      `Rule 'customer.metadata': operator '$timeframe_daily_hours' needs one operand, a text such as "18:00;20:00;1,2,3"`,
    ],
  ),
];
