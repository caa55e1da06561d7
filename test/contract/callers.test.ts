import { globSync, readFileSync } from "node:fs";
import path from "node:path";

import { expect, test } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../..");
const SERVICES = ["voucher", "campaign", "loyalty", "validation", "export"];
const read = (file: string): string => readFileSync(path.join(ROOT, file), "utf8");

/** The clients that a service creates, as the callee's package and protobuf service. */
function clientsOf(service: string): readonly (readonly [string, string])[] {
  const files = globSync(`services/${service}/src/**/*.ts`, { cwd: ROOT });
  return files.map(read).flatMap((text) =>
    [...text.matchAll(/clientOf\(\s*(?<name>\w+Service)\b/g)].map(({ groups }) => {
      const name = groups?.["name"] ?? "";
      const imported = new RegExp(`\\b${name}\\b[^;]*from "@scrip/proto/scrip/(?<owner>\\w+)/v1/`);
      return [imported.exec(text)?.groups?.["owner"] ?? "", name] as const;
    }),
  );
}

test("each service may call the RPCs that it has clients of", () => {
  const clients = SERVICES.flatMap((caller) =>
    clientsOf(caller).map(([owner, name]) => ({ caller, owner, name })),
  );
  expect(clients.length).toBeGreaterThan(20);
  const missing = clients.filter(({ caller, owner, name }) => {
    const line = new RegExp(`"scrip\\.${owner}\\.v1\\.${name}": \\[(?<callers>[^\\]]*)\\]`);
    const callers = line.exec(read(`services/${owner}/src/callers.ts`))?.groups?.["callers"];
    return callers?.includes(`"${caller}"`) !== true;
  });
  expect(missing).toEqual([]);
});
