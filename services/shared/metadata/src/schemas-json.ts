import type { JsonObject } from "@bufbuild/protobuf";

import type { Schemas } from "./metadata-check.ts";
import type { Definitions } from "./metadata-types.ts";

/** The part of the schemas that checks read, as JSON: a job enforces the schemas of the time of its request. */
export const schemasToJson = (schemas: Schemas): JsonObject =>
  Object.fromEntries(
    [...schemas].map(([name, { properties, allowDefinedOnly }]) => [
      name,
      // Definitions hold only JSON.
      { properties: properties as unknown as JsonObject, allowDefinedOnly },
    ]),
  );

export const schemasFromJson = (json: JsonObject): Schemas =>
  new Map(
    Object.entries(json as unknown as Record<string, StoredSchema>).map(([name, schema]) => [
      name,
      schema,
    ]),
  );

type StoredSchema = { readonly properties: Definitions; readonly allowDefinedOnly: boolean };
