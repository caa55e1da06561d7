import { existsSync } from "node:fs";

import { bindingsOf, errorKeysOf, rejectionKeysOf } from "@scrip/contract";
import { isErrorKey } from "@scrip/errors";
import { describe, expect, test } from "vitest";

import { publicServices } from "../../gateway/src/public-services.ts";

const root = new URL("../../", import.meta.url);

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

describe("the handler of each public RPC", () => {
  const kebab = (name: string): string =>
    name.replaceAll(/(?<!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();

  test.each(publicRpcs)("%s has a file of its name in the service that owns it", (method) => {
    const owner = method.parent.typeName.split(".")[1] ?? "";
    const folder = owner === "gateway" ? "gateway" : `services/${owner}`;
    const file = `${folder}/src/handlers/${kebab(method.name)}.ts`;
    expect(existsSync(new URL(file, root)), file).toBe(true);
  });
});
