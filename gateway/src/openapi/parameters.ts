import type { DescField } from "@bufbuild/protobuf";
import { type Binding, jsonNameOf, ruleOf } from "@scrip/contract";
import { Idempotency } from "@scrip/proto/scrip/options/v1/options_pb";

import { fieldSchema } from "./field-schema.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { Schemas } from "./schemas.ts";

export type Parameter =
  | { readonly $ref: string }
  | {
      readonly name: string;
      readonly in: "path" | "query" | "header";
      readonly required: boolean;
      readonly description?: string;
      readonly style?: string;
      readonly explode?: boolean;
      readonly schema: JsonSchema;
    };

/** Parameters in the path, the query and headers. */
export function parametersOf(binding: Binding, schemas: Schemas): Parameter[] {
  const inPath = binding.segments.flatMap((each) => (each.kind === "field" ? [each.field] : []));
  const inQuery = binding.method.input.fields.filter((field) => {
    if (inPath.includes(field) || ruleOf(field).internal || field === binding.body) return false;
    return binding.body !== "all" || ruleOf(field).inQuery;
  });
  return [
    ...inPath.map((field) => toParameter(field, "path", schemas)),
    ...inQuery.map((field) => toParameter(field, "query", schemas)),
    ...(takesIdempotencyKey(binding) ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
  ];
}

export function takesIdempotencyKey({ httpMethod, access }: Binding): boolean {
  return (httpMethod === "POST" || httpMethod === "PUT") && access.idempotency !== Idempotency.NONE;
}

function toParameter(field: DescField, place: "path" | "query", schemas: Schemas): Parameter {
  const { description, ...schema } = fieldSchema(field, (desc) =>
    schemas.reference(desc, "request"),
  );
  const isObject = field.message !== undefined && !isTimestamp(field);
  return {
    name: jsonNameOf(field),
    in: place,
    required: place === "path" || ruleOf(field).required,
    ...(description !== undefined && { description }),
    // `created_at[after]=…`, `filters[code][conditions][$in][0]=…`.
    ...(isObject && { style: "deepObject", explode: true }),
    schema,
  };
}

const isTimestamp = (field: DescField): boolean =>
  field.message?.typeName === "google.protobuf.Timestamp";

export const sharedParameters = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "Makes retries safe: for 48 hours, a request with the same key returns the stored response of the " +
      "first one, byte for byte, with `Idempotent-Replayed: true`. A different request with the same " +
      "key is rejected with `idempotency_key_reused`.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
  },
} as const;
