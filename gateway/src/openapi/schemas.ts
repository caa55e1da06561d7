import { type DescField, type DescMessage } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { type Binding, jsonNameOf, ruleOf, shapeOf } from "@scrip/contract";

import { commentOf } from "./comments.ts";
import { fieldSchema } from "./field-schema.ts";
import { FREE_FORM, type JsonSchema } from "./json-schema.ts";

/** In requests a field is required by its rule; in responses, when it is always written. */
export type Direction = "request" | "response";

export type Schemas = {
  /** A reference to the schema of a message, which is added to the components. */
  readonly reference: (desc: DescMessage, direction: Direction) => JsonSchema;
  readonly components: Readonly<Record<string, JsonSchema>>;
};

/** Collects the schemas of all messages in requests and responses, under their short names. */
export function createSchemas(bindings: readonly Binding[]): Schemas {
  const components: Record<string, JsonSchema> = {};
  const owners = new Map<string, DescMessage>();
  const nameOf = nameMessages(bindings);
  /** False when the component exists. */
  const claim = (name: string, desc: DescMessage): boolean => {
    const owner = owners.get(name);
    if (owner === desc) return false;
    if (owner !== undefined) {
      throw new Error(
        `${desc.typeName} and ${owner.typeName} must not have the same schema name ${name}`,
      );
    }
    owners.set(name, desc);
    return true;
  };
  const reference: Schemas["reference"] = (desc, direction) => {
    const name = nameOf(desc, direction);
    if (claim(name, desc)) {
      // Reserved before the fields are visited: a message may contain itself.
      components[name] = {};
      const schema = messageSchema(desc, direction, {
        omitted: onlyInPaths(desc, bindings),
        reference: (inner) => reference(inner, direction),
      });
      components[name] = isShort(desc, direction) ? orString(name, schema, desc) : schema;
    }
    return referenceTo(name);
  };
  /** Client generators cannot name an object inside anyOf, so it becomes a component. */
  const orString = (
    name: string,
    { description, ...object }: JsonSchema,
    desc: DescMessage,
  ): JsonSchema => {
    const objectName = `${name}Object`;
    claim(objectName, desc);
    components[objectName] = object;
    const anyOf = [referenceTo(objectName), { type: "string" }];
    return description === undefined ? { anyOf } : { anyOf, description };
  };
  return { reference, components };
}

const referenceTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** The message can be written as the string of one of its fields. */
const isShort = (desc: DescMessage, direction: Direction): boolean =>
  direction === "request" && shapeOf(desc).scalarField !== "";

type Options = {
  readonly omitted: ReadonlySet<DescField>;
  readonly reference: (desc: DescMessage) => JsonSchema;
};

function messageSchema(desc: DescMessage, direction: Direction, options: Options): JsonSchema {
  if (isFreeForm(desc)) return FREE_FORM;
  const { object, dataRef } = shapeOf(desc);
  const isResponse = direction === "response";
  const fixed = isResponse ? { object, data_ref: dataRef } : {};
  const constants = Object.entries(fixed).filter(([, value]) => value !== "");
  const fields = desc.fields.filter(
    (field) => !ruleOf(field).internal && !options.omitted.has(field),
  );
  const required = [
    ...constants.map(([name]) => name),
    ...fields
      .filter((field) => (isResponse ? isAlwaysWritten(field) : ruleOf(field).required))
      .map(jsonNameOf),
  ];
  const description = commentOf(desc.typeName);
  return {
    type: "object",
    properties: {
      ...Object.fromEntries(
        constants.map(([name, value]) => [name, { type: "string", const: value }]),
      ),
      ...Object.fromEntries(
        fields.map((field) => [jsonNameOf(field), fieldSchema(field, options.reference)]),
      ),
    },
    ...(required.length > 0 && { required }),
    ...(description !== undefined && { description }),
  };
}

const isFreeForm = ({ typeName }: DescMessage): boolean => typeName === "google.protobuf.Struct";

/** Must agree with the encoder: it writes scalars, lists that may be empty, and nullable fields. */
function isAlwaysWritten(field: DescField): boolean {
  const rule = ruleOf(field);
  if (rule.nullable) return true;
  if (field.fieldKind === "list" || field.fieldKind === "map") return !rule.omitEmpty;
  return field.fieldKind === "scalar" && field.presence === FeatureSet_FieldPresence.IMPLICIT;
}

/** Fields that are always sent in the path or query are not part of the body. */
function onlyInPaths(desc: DescMessage, bindings: readonly Binding[]): ReadonlySet<DescField> {
  const own = bindings.filter(({ method, body }) => method.input === desc && body === "all");
  if (own.length === 0) return new Set();
  return new Set(
    desc.fields.filter(
      (field) =>
        ruleOf(field).inQuery ||
        own.every(({ segments }) =>
          segments.some((segment) => segment.kind === "field" && segment.field === field),
        ),
    ),
  );
}

/**
 * `Discount` in responses, `DiscountInput` in requests; prefixed with the package where names collide. Every object
 * with any properties is a `FreeFormObject`: generated names of inline objects collide with those of components.
 */
function nameMessages(
  bindings: readonly Binding[],
): (desc: DescMessage, direction: Direction) => string {
  const inRequests = reachable(bindings.map(({ method }) => method.input));
  const inResponses = reachable(bindings.map(({ method }) => method.output));
  const counts = new Map<string, number>();
  for (const { name } of new Set([...inRequests, ...inResponses])) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return (desc, direction) => {
    if (isFreeForm(desc)) return "FreeFormObject";
    const isShared = (counts.get(desc.name) ?? 0) > 1;
    const ownName = withoutNew(desc.name);
    const name = isShared ? packageOf(desc) + ownName : ownName;
    const isBoth = inRequests.has(desc) && inResponses.has(desc);
    return direction === "request" && isBoth ? `${name}Input` : name;
  };
}

/** `NewEarningRule` becomes `EarningRuleInput`: in Go clients, `NewEarningRule` is the constructor of `EarningRule`. */
const withoutNew = (name: string): string => name.replace(/^New([A-Z].*)$/, "$1Input");

/** `scrip.gateway.v1` is Gateway. */
function packageOf({ file }: DescMessage): string {
  const name = file.proto.package.split(".")[1] ?? "";
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function reachable(roots: readonly DescMessage[]): Set<DescMessage> {
  const found = new Set<DescMessage>();
  const visit = (desc: DescMessage): void => {
    if (found.has(desc)) return;
    found.add(desc);
    for (const { message } of desc.fields) if (message !== undefined) visit(message);
  };
  for (const root of roots) visit(root);
  return found;
}
