import { expect, test } from "vitest";

import { installedPackages, isPermitted } from "./licenses.ts";

test("every installed package has a permitted licence", () => {
  const packages = installedPackages();
  expect(packages.length).toBeGreaterThan(300);
  expect(packages.filter(({ license }) => !isPermitted(license))).toEqual([]);
});

test.each([
  ["MIT", true],
  ["(GPL-3.0 OR MIT)", true],
  ["(MIT AND GPL-3.0)", false],
  ["AGPL-3.0", false],
  ["none", false],
])("%s: %s", (expression, permitted) => {
  expect(isPermitted(expression)).toBe(permitted);
});
