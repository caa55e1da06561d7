import { bindingsOf, errorKeysOf, rejectionKeysOf } from "@scrip/contract";
import { isErrorKey } from "@scrip/errors";
import { describe, expect, test } from "vitest";

import { publicServices } from "../../gateway/src/public-services.ts";

const publicRpcs = [...new Set(bindingsOf(publicServices).map(({ method }) => method))];
const allRpcs = publicServices.flatMap(({ methods }) => methods);

describe("the error keys of the contract", () => {
  test.each(allRpcs)("%s names keys of the catalogue, each once", (method) => {
    for (const keys of [errorKeysOf(method), rejectionKeysOf(method)]) {
      expect(keys.filter((key) => !isErrorKey(key))).toEqual([]);
      expect(new Set(keys).size).toBe(keys.length);
    }
  });

  test("an RPC that takes an id in its path can return not_found, unless an unknown one is no error", () => {
    const silent = publicRpcs
      .filter((method) => /^(Get|Update|Delete)/.test(method.name))
      .filter((method) => !errorKeysOf(method).includes("not_found"));
    expect(silent.map(({ name }) => name)).toEqual([]);
  });
});

test("every path that names a voucher by its code counts misses", () => {
  const uncounted = bindingsOf(publicServices)
    .filter(({ segments }) =>
      segments.some((part) => part.kind === "field" && part.field.name === "code"),
    )
    .filter(({ access }) => !access.codes)
    .map(({ method }) => method.name);
  // These create vouchers.
  expect(uncounted).toEqual(["CreateVoucher", "CreateCampaignVouchers"]);
});
