import { expect, test } from "vitest";

import { isFarBehind, type ReadingLag } from "./reading-lag.ts";

test.each<[ReadingLag, boolean]>([
  [{}, false],
  [{ seconds: 5 }, false],
  [{ seconds: 6 }, true],
  [{ events: 1_000 }, false],
  [{ events: 1_001 }, true],
])(
  "bulk work waits while events are unhandled for seconds or in large numbers: %j",
  (lag, waits) => {
    expect(isFarBehind(lag)).toBe(waits);
  },
);
