import {
  clearField,
  create,
  type DescField,
  type DescMessage,
  type DescMethod,
  isFieldSet,
  type Message,
} from "@bufbuild/protobuf";
import { type FieldMask, FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { httpMethodsOf, pathFieldsOf, ruleOf } from "@scrip/contract";
import { invalidPayload } from "@scrip/errors";

/**
 * Updates write the fields that their `update_mask` names. Handlers expect a request as the gateway decodes it from a JSON
 * document: with nothing but the fields to write, which the mask names, also those one level below. This gives the request
 * of an external service that form. Without paths, the mask names the fields that the request has.
 */
export function applyUpdateMask(method: DescMethod, request: Message): void {
  if (!compiled.has(method)) compiled.set(method, compileMask(method));
  compiled.get(method)?.(request);
}

type MutableMessage = Message & Record<string, unknown>;
type Mask = (request: MutableMessage) => void;

const compiled = new Map<DescMethod, Mask | undefined>();

function compileMask(method: DescMethod): Mask | undefined {
  const mask = method.input.fields.find(
    ({ name, message }) => name === "update_mask" && message?.typeName === FieldMaskSchema.typeName,
  );
  if (mask === undefined) return undefined;
  const inPath = new Set(pathFieldsOf(method));
  const writable = method.input.fields.filter(
    (field) => field !== mask && !inPath.has(field) && !ruleOf(field).internal,
  );
  const kept = identifiersOf(method);
  const cleared = writable.filter((field) => !kept.has(field.name));
  return (request) => {
    const sent = request[mask.localName] as FieldMask | undefined;
    const named = nameFields(sent?.paths ?? [], writable);
    if (named.size > 0) keepNamed(request, cleared, named);
    const paths = writable.flatMap((field) => pathsOf(request, field, named));
    request[mask.localName] = create(FieldMaskSchema, { paths });
  };
}

const NO_NAMES: ReadonlySet<string> = new Set();
const IDENTIFIERS: ReadonlySet<string> = new Set(["id", "source_id"]);

/** The names of fields that identify an object which an RPC creates or updates; others identify it in their path. */
const identifiersOf = (method: DescMethod): ReadonlySet<string> =>
  httpMethodsOf(method).includes("POST") ? IDENTIFIERS : NO_NAMES;

/** What a mask names of a field: all of it, and fields below. */
type Part = { readonly whole: boolean; readonly below: ReadonlySet<DescField> };
type Named = ReadonlyMap<DescField, Part>;

const NOTHING: Part = { whole: false, below: new Set() };
const EVERYTHING: Part = { ...NOTHING, whole: true };

function nameFields(paths: readonly string[], writable: readonly DescField[]): Named {
  const named = new Map<DescField, Part>();
  for (const path of paths) {
    const [name = "", ...rest] = path.split(".");
    const field = writable.find((each) => each.name === name);
    if (field === undefined) throw unknownPath(path);
    const { whole, below } = named.get(field) ?? NOTHING;
    if (rest.length === 0) {
      named.set(field, { whole: true, below });
      continue;
    }
    const inner = ownMessageOf(field)?.fields.find((each) => each.name === rest.join("."));
    if (inner === undefined) throw unknownPath(path);
    named.set(field, { whole, below: new Set([...below, inner]) });
  }
  return named;
}

const unknownPath = (path: string): Error =>
  invalidPayload(`Property .update_mask must not have the path '${path}': no such field to write`);

/** The message of a field, if it is one of Scrip's; others, such as metadata, are written as a whole. */
const ownMessageOf = (field: DescField): DescMessage | undefined =>
  field.fieldKind === "message" && field.message.file.proto.package !== "google.protobuf"
    ? field.message
    : undefined;

/** Clears the fields that the mask does not name, because handlers also write fields without a look at the mask. */
function keepNamed(request: MutableMessage, writable: readonly DescField[], named: Named): void {
  for (const field of writable) {
    const part = named.get(field);
    if (part === undefined) clearField(request, field);
    else if (!part.whole) keepBelow(request, field, part.below);
  }
}

function keepBelow(request: MutableMessage, field: DescField, below: ReadonlySet<DescField>): void {
  const message = ownMessageOf(field);
  if (message === undefined) return;
  const value = isFieldSet(request, field)
    ? (request[field.localName] as Message)
    : create(message);
  for (const each of message.fields) {
    // A document must contain its required fields, such as the type of a discount, and the ids of its object.
    const isKept = below.has(each) || ruleOf(each).required || IDENTIFIERS.has(each.name);
    if (!isKept) clearField(value, each);
  }
  request[field.localName] = value;
}

/** The paths as the gateway names them: the property of a document, and those one level below. */
function pathsOf(request: MutableMessage, field: DescField, named: Named): string[] {
  const part = named.get(field);
  if (named.size === 0 ? !isFieldSet(request, field) : part === undefined) return [];
  const { whole, below } = part ?? EVERYTHING;
  const sent = whole ? sentBelow(request, field) : [];
  return [
    field.name,
    ...[...new Set([...sent, ...below])].map(({ name }) => `${field.name}.${name}`),
  ];
}

function sentBelow(request: MutableMessage, field: DescField): readonly DescField[] {
  const message = ownMessageOf(field);
  if (message === undefined || !isFieldSet(request, field)) return [];
  const value = request[field.localName] as Message;
  return message.fields.filter((each) => isFieldSet(value, each));
}
