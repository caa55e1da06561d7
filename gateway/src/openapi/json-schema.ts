/** The subset of JSON Schema 2020-12 that the document uses. */
export type JsonSchema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly const?: string;
  readonly enum?: readonly (string | null)[];
  readonly pattern?: string;
  readonly contentEncoding?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
};

/** An object with any properties. */
export const FREE_FORM: JsonSchema = { type: "object", additionalProperties: true };

/** Allows null in addition. Objects get a branch of their own: generated clients reject null for a list of types. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { description, ...rest } = schema;
  const { type } = rest;
  const nullable: JsonSchema =
    typeof type === "string" && type !== "object"
      ? {
          ...rest,
          type: [type, "null"],
          ...(rest.enum !== undefined && { enum: [...rest.enum, null] }),
        }
      : { anyOf: [rest, { type: "null" }] };
  return description === undefined ? nullable : { ...nullable, description };
}
