import { bindingsOf } from "@scrip/contract";
import { expect, test } from "vitest";

import { publicServices } from "../../gateway/src/public-services.ts";

test("every list whose items have a time of creation is limited by a range of it", () => {
  const unlimited = bindingsOf(publicServices).flatMap(({ method, httpMethod, path }) => {
    // A resource that contains lists has an id itself.
    const isList = !method.output.fields.some(({ name }) => name === "id");
    const isDated = method.output.fields.some(
      (field) =>
        field.fieldKind === "list" &&
        field.message?.fields.some(({ name }) => name === "created_at") === true,
    );
    const hasRange = method.input.fields.some(
      ({ name, message }) => name === "created_at" && message?.name === "TimeRange",
    );
    return httpMethod === "GET" && isList && isDated && !hasRange ? [`${httpMethod} ${path}`] : [];
  });
  expect(unlimited).toEqual([]);
});
