import {
  create,
  type DescMethod,
  type Message,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createEncoders, shapeOf } from "@scrip/contract";
import { enqueue, MAX_EVENT_BYTES, type OutboxEvent } from "@scrip/events";
import { newId } from "@scrip/ids";
import type { Queryable } from "@scrip/postgres";
import { ResourceChangedSchema } from "@scrip/proto/scrip/events/v1/resources_pb";
import type { Call } from "@scrip/rpc";

/** A resource that an RPC created, changed or deleted. */
export type ResourceChange = {
  /** The names of the change that apply, of those that the RPC publishes. Default: all. */
  readonly names?: readonly string[];
  /** As the API calls it: `voucher`. */
  readonly resource: string;
  readonly id: string;
  /** The resource as JSON text. */
  readonly data: string;
};

type ChangesOf<Desc extends DescMethod> = (
  response: MessageShape<Desc["output"]>,
  request: MessageShape<Desc["input"]>,
  call: Call,
) => readonly ResourceChange[];

/** What a successful RPC publishes for webhooks. */
export type PublishedChange = {
  readonly method: DescMethod;
  readonly topic: string;
  /** As webhooks subscribe to them: `voucher.created`. */
  readonly names: readonly string[];
  readonly changesOf: (
    response: Message,
    request: Message,
    call: Call,
  ) => readonly ResourceChange[];
};

/** By default, the response is the resource that the RPC created or changed. */
export const publishes = <Desc extends DescMethod>(
  method: Desc,
  topic: string,
  names: readonly string[],
  changesOf: ChangesOf<Desc> = (response) => [changed(method.output, response)],
): PublishedChange => ({
  method,
  topic,
  names,
  // The frame passes the messages of this method.
  changesOf: changesOf as unknown as PublishedChange["changesOf"],
});

/** An RPC whose handler calls `publishReceived`, since neither its request nor its response contains the change. */
export const publishesItself = (
  method: DescMethod,
  topic: string,
  names: readonly string[],
): PublishedChange => ({ method, topic, names, changesOf: () => [] });

const encoderOf = createEncoders();

/** A resource that was created or changed. */
export function changed(
  desc: DescMethod["output"],
  resource: Message & { readonly id?: string | undefined },
  names?: readonly string[],
): ResourceChange {
  const data = encoderOf(desc)(resource);
  return { resource: shapeOf(desc).object, id: resource.id ?? "", data, ...(names && { names }) };
}

/** A resource that was created or, if it existed, updated. */
export const createdOrUpdated = (
  desc: DescMethod["output"],
  resource: Message & {
    readonly id?: string | undefined;
    readonly updatedAt?: Message | undefined;
  },
  name: string,
): ResourceChange =>
  changed(desc, resource, [`${name}.${resource.updatedAt === undefined ? "created" : "updated"}`]);

/** A resource that was deleted. */
export const deleted = (resource: string, id: string): ResourceChange => ({
  resource,
  id,
  data: JSON.stringify({ object: resource, id }),
});

/** Whether a webhook of the project receives what the RPC publishes. */
export const isReceived = ({ names }: Pick<PublishedChange, "names">, { project }: Call): boolean =>
  project.webhookEvents !== undefined &&
  names.some((name) => project.webhookEvents?.includes(name) === true);

/**
 * Publishes the changes that webhooks of the project receive, in the transaction of the change
 * (services/decisions/0044).
 */
export async function publishChanges(
  tx: Queryable,
  published: PublishedChange,
  { response, request, call }: { response: Message; request: Message; call: Call },
): Promise<void> {
  const changes = published
    .changesOf(response, request, call)
    .map((change) => ({ ...change, names: change.names ?? published.names }));
  await publishReceived(tx, call, { topic: published.topic, changes });
}

/** The same for changes that a request makes in passing, such as the customer of a publication. */
export async function publishReceived(
  tx: Queryable,
  call: Call,
  {
    topic,
    changes,
    isBulk = false,
  }: {
    readonly topic: string;
    readonly changes: readonly Required<ResourceChange>[];
    /** Whether webhooks of other changes are sent first. Default: no. */
    readonly isBulk?: boolean;
  },
): Promise<void> {
  const events = changes
    .filter((change) => isReceived(change, call))
    .map((change) => resourceChanged({ topic, isBulk }, change, call));
  await enqueue(tx, events, call);
}

/** Leaves room for the other fields. */
const MAX_DATA_BYTES = MAX_EVENT_BYTES - 10_000;

function resourceChanged(
  { topic, isBulk }: { readonly topic: string; readonly isBulk: boolean },
  { names, resource, id, data }: Required<ResourceChange>,
  { project, now, requestId, caller }: Call,
): OutboxEvent {
  const isTooLarge = Buffer.byteLength(data) > MAX_DATA_BYTES;
  const message = create(ResourceChangedSchema, {
    projectId: project.id,
    names: [...names],
    resource,
    id,
    date: timestampFromMs(now),
    data: isTooLarge ? deleted(resource, id).data : data,
    requestId,
    channel: caller.side === "client" ? "CLIENT_API" : "API",
    bulk: isBulk,
  });
  return {
    projectId: project.id,
    id: newId("event"),
    topic,
    key: id,
    type: ResourceChangedSchema.typeName,
    payload: toBinary(ResourceChangedSchema, message),
  };
}
