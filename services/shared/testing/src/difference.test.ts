import { expect, test } from "vitest";

import { describeDifference } from "./difference.ts";

test("lists only the lines that differ, in their order", () => {
  expect(describeDifference("a\nb\nc\nd", "a\nx\nc\nd\ne")).toBe("- b\n+ x\n+ e");
  expect(describeDifference("", "a\nb")).toBe("- \n+ a\n+ b");
  expect(describeDifference("a\nb", "a\nb")).toBe("");
});
