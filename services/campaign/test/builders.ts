import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { DeliveredEvent, EventHandler } from "@scrip/events";
import { newId } from "@scrip/ids";

import { NOON } from "./deps.ts";

/** An event as a consumer gets it. */
export const eventOf = <Schema extends DescMessage>(
  schema: Schema,
  {
    projectId,
    topic,
    key = "any",
  }: { readonly projectId: string; readonly topic: string; readonly key?: string },
  facts: MessageInitShape<Schema>,
): DeliveredEvent => ({
  id: newId("event"),
  topic,
  key,
  projectId,
  type: schema.typeName,
  payload: toBinary(schema, create(schema, facts)),
  headers: {},
  occurredAt: new Date(NOON),
  partition: 0,
  offset: 0n,
});

export const deliver = (handler: EventHandler, events: readonly DeliveredEvent[]): Promise<void> =>
  handler(events, {
    group: "campaign",
    topic: events[0]?.topic ?? "",
    signal: new AbortController().signal,
  });
