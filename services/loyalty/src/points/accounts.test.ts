import { expect, test } from "vitest";

import { mayBeDue } from "./accounts.ts";

test.each([
  [null, "2026-03-02T00:00:00Z", false],
  ["2026-03-01", "2026-02-28T23:59:59Z", false],
  // Half an hour after midnight in GMT+18, which is a valid time zone of a project.
  ["2026-03-01", "2026-03-01T06:30:00Z", true],
  ["2026-03-01", "2026-03-02T00:00:00Z", true],
])("whether points of %s may have expired at %s: %s", (nextExpiresOn, now, expected) => {
  expect(mayBeDue({ nextExpiresOn }, Date.parse(now))).toBe(expected);
});
