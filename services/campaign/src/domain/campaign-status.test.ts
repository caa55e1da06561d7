import { expect, test } from "vitest";

import {
  initialStatus,
  statusAfterAddingVouchers,
  statusAfterFailedUpdate,
} from "./campaign-status.ts";

test("a new campaign is IN_PROGRESS only if it has codes to create", () => {
  expect(initialStatus(0n)).toBe("DONE");
  expect(initialStatus(1n)).toBe("IN_PROGRESS");
});

test("adding vouchers ends in DONE unless the campaign had failed before", () => {
  expect(statusAfterAddingVouchers("MODIFYING")).toBe("DONE");
  expect(statusAfterAddingVouchers("FAILED")).toBe("FAILED");
});

test("a rejected update keeps the status, and any other error sets FAILED", () => {
  expect(statusAfterFailedUpdate("DONE", { rejected: true })).toBe("DONE");
  expect(statusAfterFailedUpdate("DONE", { rejected: false })).toBe("FAILED");
});
