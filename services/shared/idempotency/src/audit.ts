import {
  create,
  type DescField,
  type DescMethod,
  isFieldSet,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { currentTime } from "@scrip/clock";
import { isAudited, jsonNameOf, pathFieldsOf, ruleOf, shapeOf } from "@scrip/contract";
import { enqueue } from "@scrip/events";
import { newId } from "@scrip/ids";
import type { Queryable } from "@scrip/postgres";
import { type ChangeAudited, ChangeAuditedSchema } from "@scrip/proto/scrip/events/v1/audit_pb";
import type { Call, RecordHit } from "@scrip/rpc";

export const AUDIT_TOPIC = "scrip.audit.v1";

/** A successful call. */
export type SuccessfulCall = {
  readonly request: Message;
  readonly response: Message;
  readonly call: Call;
};

/** Stores the entry of a change in its transaction. */
export type StoreEntry = (tx: Queryable, entry: ChangeAudited) => Promise<void>;

/** Publishes the entry; the export service stores those of all services (services/decisions/0060). */
export const publishEntry: StoreEntry = (tx, entry) => {
  const event = {
    projectId: entry.projectId,
    id: entry.id,
    topic: AUDIT_TOPIC,
    key: entry.projectId,
    type: ChangeAuditedSchema.typeName,
    payload: toBinary(ChangeAuditedSchema, entry),
  };
  // The entry itself says who made the request.
  return enqueue(tx, [event], undefined);
};

/** Entries for codes that are found after many unknown ones (docs/rate-limits.md#code-guessing). */
export const createHitRecorder =
  (db: Queryable, store: StoreEntry, onEvents: () => void): RecordHit =>
  async ({ projectId, side, callerId, requestId }) => {
    const entry = create(ChangeAuditedSchema, {
      projectId,
      id: newId("aud"),
      action: "codeFoundAfterMisses",
      actorType: side,
      actorId: callerId,
      requestId,
      date: timestampFromMs(currentTime()),
    });
    await store(db, entry);
    onEvents();
  };

/** Compiles how calls of an RPC are described in the audit log; undefined for an RPC that leaves no entry. */
export function compileEntry(
  method: DescMethod,
): ((made: SuccessfulCall) => ChangeAudited) | undefined {
  if (!isAudited(method)) return undefined;
  const sentFields = compileSentFields(method);
  const resourceOf = compileResource(method);
  return (made) => {
    const { request, response, call } = made;
    const { resource, resourceId } = resourceOf(request, response);
    return create(ChangeAuditedSchema, {
      projectId: call.project.id || textOf(request, "projectId") || textOf(response, "id"),
      id: newId("aud"),
      action: method.localName,
      resource,
      resourceId,
      fields: sentFields(request),
      actorType: call.caller.side,
      actorId: call.caller.id,
      requestId: call.requestId,
      date: timestampFromMs(currentTime()),
    });
  };
}

/** The names of the fields that a request set: without values, which may be personal data or secrets. */
function compileSentFields(method: DescMethod): (request: Message) => string[] {
  const inPath = new Set(pathFieldsOf(method));
  const fields = method.input.fields.filter(
    (field) => !inPath.has(field) && !ruleOf(field).internal && field.name !== "update_mask",
  );
  return (request) => {
    const { updateMask } = request as { updateMask?: { paths: string[] } };
    const masked = new Set(updateMask?.paths.map((path) => path.split(".")[0]));
    return fields
      .filter((field) => masked.has(field.name) || isFieldSet(request, field))
      .map(jsonNameOf);
  };
}

type Resource = { readonly resource: string; readonly resourceId: string };

/** The resource in the response, or what the path names. */
function compileResource(method: DescMethod): (request: Message, response: Message) => Resource {
  const { object } = shapeOf(method.output);
  const named = pathFieldsOf(method).at(-1);
  return (request, response) => {
    const id = textOf(response, "id");
    const related = textOf(response, "relatedObject");
    const relatedId = textOf(response, "relatedObjectId");
    if (related !== "" && relatedId !== "") return { resource: related, resourceId: relatedId };
    if (object !== "" && id !== "") return { resource: object, resourceId: id };
    return named === undefined
      ? { resource: "", resourceId: "" }
      : { resource: typeNamed(named), resourceId: publicText(request, named) };
  };
}

/** `{campaign_id}` names a campaign, `{code}` a voucher. */
const typeNamed = ({ name }: DescField): string =>
  name === "code" ? "voucher" : name.replace(/_(?:id|key)$/, "");

const OWN_ID = /^[a-z]+_[0-9a-f]{18}$/;

function publicText(request: Message, field: DescField): string {
  const text = textOf(request, field.localName);
  return ruleOf(field).personal && !OWN_ID.test(text) ? "" : text;
}

function textOf(message: Message, localName: string): string {
  const value = (message as Message & Record<string, unknown>)[localName];
  return typeof value === "string" ? value : "";
}
