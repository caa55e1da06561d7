import { bindingsOf, errorKeysOf, rejectionKeysOf } from "@scrip/contract";
import { isErrorKey } from "@scrip/errors";
import { describe, expect, test } from "vitest";

import { commentOf } from "../../gateway/src/openapi/comments.ts";
import { openApiOf } from "../../gateway/src/openapi/index.ts";
import { publicServices } from "../../gateway/src/public-services.ts";

/** Every RPC can return these; scrip.options.v1.errors lists only further keys. */
const GENERAL: ReadonlySet<string> = new Set([
  "invalid_payload",
  "invalid_query_params",
  "forbidden",
  "internal_error",
  "service_unavailable",
  "idempotency_key_reused",
]);

const allRpcs = publicServices.flatMap(({ methods }) => methods);

describe("the comment of each RPC", () => {
  test.each(allRpcs)(
    "of %s starts with a verb and contains only error keys that the RPC declares",
    (method) => {
      const comment = commentOf(`${method.parent.typeName}.${method.name}`) ?? "";
      expect(comment).toMatch(/^(?:[A-Z][a-z]+s\b|Client-side variant of)/);
      const declared = new Set([...errorKeysOf(method), ...rejectionKeysOf(method)]);
      const named = [...comment.matchAll(/`([a-z_]+)`/g)].flatMap(([, key = ""]) =>
        isErrorKey(key) ? [key] : [],
      );
      expect(named.filter((key) => !declared.has(key) && !GENERAL.has(key))).toEqual([]);
    },
  );
});

test("every property of the OpenAPI document has a description", () => {
  const { components } = openApiOf(bindingsOf(publicServices), { version: "1.2.3" });
  const schemas = components["schemas"] as Record<
    string,
    { readonly properties?: Record<string, { readonly description?: string }> }
  >;
  // The gateway adds these two: the type name of a resource, and the name of a list's field.
  const isAdded = (name: string) => name === "object" || name === "data_ref";
  const silent = Object.entries(schemas).flatMap(([schema, { properties = {} }]) =>
    Object.entries(properties)
      .filter(([name, { description }]) => !isAdded(name) && !description)
      .map(([name]) => `${schema}.${name}`),
  );
  expect(silent).toEqual([]);
});
