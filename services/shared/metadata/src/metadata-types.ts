import type { JsonValue } from "@bufbuild/protobuf";

/** The keys that the metadata of a resource may or must have (docs/metadata-schemas.md#definitions). */
export type MetadataSchema = {
  readonly id: string;
  /** The resource, or the name by which the `object_type` of a nested value refers to this schema. */
  readonly relatedObject: string;
  readonly properties: Readonly<Record<string, Definition>>;
  readonly allowDefinedOnly: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};

/** Type and constraints of the value of one key. */
export type Definition = {
  readonly type: MetadataType;
  readonly array: boolean;
  readonly optional: boolean;
  /** A deleted definition is not enforced; it is retained because the type of a key never changes. */
  readonly deleted: boolean;
  readonly objectType?: string;
  readonly eq?: readonly JsonValue[];
  readonly ne?: readonly JsonValue[];
  readonly lt?: JsonValue;
  readonly lte?: JsonValue;
  readonly gt?: JsonValue;
  readonly gte?: JsonValue;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly exactLength?: number;
};

export type MetadataType =
  | "string"
  | "number"
  | "object"
  | "date"
  | "datetime"
  | "geopoint"
  | "boolean"
  | "image_url"
  | "nested";

export type Definitions = MetadataSchema["properties"];
