import {
  create,
  type DescField,
  type DescMethod,
  isFieldSet,
  type Message,
} from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { pathFieldsOf, ruleOf } from "@scrip/contract";

/**
 * Updates write the fields that their `update_mask` names. An external service may leave it out: then it names the
 * fields that the request has, also one level below, as the gateway does for a JSON document.
 */
export function maskSentFields(method: DescMethod, request: Message): void {
  if (!compiled.has(method)) compiled.set(method, compileMask(method));
  compiled.get(method)?.(request);
}

type Mask = (request: Message) => void;

const compiled = new Map<DescMethod, Mask | undefined>();

function compileMask(method: DescMethod): Mask | undefined {
  const mask = method.input.fields.find(
    ({ name, message }) =>
      name === "update_mask" && message?.typeName === "google.protobuf.FieldMask",
  );
  if (mask === undefined) return undefined;
  const inPath = new Set(pathFieldsOf(method));
  const writable = method.input.fields.filter(
    (field) => field !== mask && !inPath.has(field) && !ruleOf(field).internal,
  );
  return (request) => {
    if (isFieldSet(request, mask)) return;
    const paths = writable.flatMap((field) =>
      isFieldSet(request, field) ? pathsOf(request, field) : [],
    );
    (request as MutableMessage)[mask.localName] = create(FieldMaskSchema, { paths });
  };
}

type MutableMessage = Message & Record<string, unknown>;

function pathsOf(request: Message, field: DescField): string[] {
  if (field.fieldKind !== "message" || field.message.file.proto.package === "google.protobuf") {
    return [field.name];
  }
  const below = (request as MutableMessage)[field.localName] as Message;
  const sent = field.message.fields.filter((each) => isFieldSet(below, each));
  return [field.name, ...sent.map(({ name }) => `${field.name}.${name}`)];
}
