import { readFileSync } from "node:fs";
import path from "node:path";

import { expect, test } from "vitest";

const read = (file: string): string => readFileSync(path.join(import.meta.dirname, file), "utf8");

test("the README lists every environment variable, and no other", () => {
  const sources =
    read("config.ts") +
    read("process-config.ts") +
    read("../../services/shared/events/src/process-bus.ts") +
    read("../../services/shared/rpc/src/admission/settings.ts") +
    read("../../services/shared/rpc/src/auth/service-keys.ts") +
    read("../../services/shared/rpc/src/auth/tls.ts") +
    read("../../services/shared/rpc/src/code-guessing/settings.ts") +
    read("../../services/shared/telemetry/src/metrics-server.ts");
  const variables = [
    ...[...sources.matchAll(/"(SCRIP_[A-Z0-9_]+|DATABASE_URL)"/g)].map(([, name]) => name),
    ...["VOUCHER", "CAMPAIGN", "LOYALTY", "VALIDATION", "EXPORT"].map(
      (name) => `SCRIP_${name}_URL`,
    ),
  ];
  const rows = [...read("../README.md").matchAll(/^\| `([A-Z0-9_]+)`/gm)].map(([, name]) => name);
  expect(new Set(rows)).toEqual(new Set(variables));
});
