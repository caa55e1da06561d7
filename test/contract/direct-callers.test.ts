import { readFileSync } from "node:fs";
import path from "node:path";

import { accessOf } from "@scrip/contract";
import { expect, test } from "vitest";

import { publicServices } from "../../gateway/src/public-services.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");

const methods = publicServices.flatMap((service) => service.methods);

/** The RPCs that the last column of the gateway's table of steps names, as `Service.Method` or `Method`. */
function namedForDirectCallers(): readonly string[] {
  const readme = readFileSync(path.join(ROOT, "gateway/README.md"), "utf8");
  const [, table = ""] = /^\| Step +\|.*\n\| -+ [^\n]*\n((?:\|.*\n)+)/m.exec(readme) ?? [];
  const cells = table.split("\n").map((row) => row.split("|").at(-2) ?? "");
  const names = cells.flatMap((cell) =>
    [...cell.matchAll(/`(?:\w+Service\.)?([A-Z][a-z]+[A-Za-z]+)`/g)].map(([, name]) => name ?? ""),
  );
  return names.filter((name) => methods.some((method) => method.name === name));
}

test("the RPCs that direct gRPC callers shall use instead of the gateway are open to them", () => {
  const names = namedForDirectCallers();
  expect(names.length).toBeGreaterThan(5);
  const closed = names.filter(
    (name) =>
      !methods.some((method) => method.name === name && (accessOf(method)?.server ?? "") !== ""),
  );
  expect(closed).toEqual([]);
});
