import {
  create,
  fromJson,
  type JsonValue,
  type MessageInitShape,
  toJson,
} from "@bufbuild/protobuf";
import { timestampFromDate, type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Definition, Definitions, MetadataSchema, MetadataType } from "@scrip/metadata";
import {
  type MetadataSchema as MetadataSchemaMessage,
  MetadataSchemaSchema,
  type ProjectMetadataDefinition,
  type ProjectMetadataDefinitionSchema,
  type ProjectMetadataSchema,
  ProjectMetadataSchemaSchema,
} from "@scrip/proto/scrip/gateway/v1/metadata_schemas_pb";

export const metadataSchemaToProto = (schema: MetadataSchema): MetadataSchemaMessage =>
  create(MetadataSchemaSchema, toMessage(schema));

/** With the field names of the management API. */
export const projectMetadataSchemaToProto = (schema: MetadataSchema): ProjectMetadataSchema =>
  create(ProjectMetadataSchemaSchema, toMessage(schema));

const toMessage = (schema: MetadataSchema) => ({
  id: schema.id,
  relatedObject: schema.relatedObject,
  properties: Object.fromEntries(
    Object.entries(schema.properties).map(([key, definition]) => [
      key,
      definitionToProto(definition),
    ]),
  ),
  allowDefinedOnly: schema.allowDefinedOnly,
  createdAt: timestampFromDate(schema.createdAt),
  ...(schema.updatedAt !== null && { updatedAt: timestampFromDate(schema.updatedAt) }),
});

type DefinitionInit = Exclude<
  MessageInitShape<typeof ProjectMetadataDefinitionSchema>,
  ProjectMetadataDefinition
>;

function definitionToProto(definition: Definition): DefinitionInit {
  const { eq = [], ne = [], lt, lte, gt, gte, minLength, maxLength, exactLength } = definition;
  return {
    type: definition.type,
    array: definition.array,
    optional: definition.optional,
    deleted: definition.deleted,
    eq: eq.map(toValue),
    ne: ne.map(toValue),
    ...(definition.objectType !== undefined && { objectType: definition.objectType }),
    ...(lt !== undefined && { lt: toValue(lt) }),
    ...(lte !== undefined && { lte: toValue(lte) }),
    ...(gt !== undefined && { gt: toValue(gt) }),
    ...(gte !== undefined && { gte: toValue(gte) }),
    ...(minLength !== undefined && { minLength: BigInt(minLength) }),
    ...(maxLength !== undefined && { maxLength: BigInt(maxLength) }),
    ...(exactLength !== undefined && { exactLength: BigInt(exactLength) }),
  };
}

export const definitionsFromProto = (
  messages: Readonly<Record<string, ProjectMetadataDefinition>>,
): Definitions =>
  Object.fromEntries(
    Object.entries(messages).map(([key, message]) => [key, definitionFromProto(message)]),
  );

function definitionFromProto(message: ProjectMetadataDefinition): Definition {
  const { objectType, eq, ne, lt, lte, gt, gte, minLength, maxLength, exactLength } = message;
  return {
    // The contract restricts the values.
    type: message.type as MetadataType,
    array: message.array,
    optional: message.optional,
    deleted: message.deleted,
    ...(objectType !== undefined && { objectType }),
    ...(eq.length > 0 && { eq: eq.map(fromValue) }),
    ...(ne.length > 0 && { ne: ne.map(fromValue) }),
    ...(lt !== undefined && { lt: fromValue(lt) }),
    ...(lte !== undefined && { lte: fromValue(lte) }),
    ...(gt !== undefined && { gt: fromValue(gt) }),
    ...(gte !== undefined && { gte: fromValue(gte) }),
    ...(minLength !== undefined && { minLength: Number(minLength) }),
    ...(maxLength !== undefined && { maxLength: Number(maxLength) }),
    ...(exactLength !== undefined && { exactLength: Number(exactLength) }),
  };
}

const toValue = (value: JsonValue): Value => fromJson(ValueSchema, value);
const fromValue = (value: Value): JsonValue => toJson(ValueSchema, value);
