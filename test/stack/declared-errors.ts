import { bindingsOf } from "@scrip/contract";
import { expect } from "vitest";

import { createRouter } from "../../gateway/src/http/router.ts";
import { endpointErrorsOf } from "../../gateway/src/openapi/error-keys.ts";
import { publicServices } from "../../gateway/src/public-services.ts";

/** General keys that OpenAPI does not list at each operation. */
const UNLISTED_KEYS: readonly string[] = [
  "not_acceptable",
  "request_timeout",
  "expectation_failed",
  "not_implemented",
  "deadline_exceeded",
];

const router = createRouter(
  bindingsOf(publicServices).map((binding) => {
    const { general, own } = endpointErrorsOf(binding);
    return {
      method: binding.httpMethod,
      segments: binding.path.split("/").slice(1),
      name: binding.method.name,
      keys: new Set<string>([...UNLISTED_KEYS, ...general, ...own]),
    };
  }),
);

/** Fails the test when the contract of the called RPC does not declare the key of the error. */
export function expectDeclaredError(method: string, path: string, key: string): void {
  const match = router.match(method, path.replace(/\?.*$/s, ""));
  if (match.kind !== "found") return;
  const { name, keys } = match.route;
  expect(keys, `${name} returns ${key}, which its contract does not declare`).toContain(key);
}
