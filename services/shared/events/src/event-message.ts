import { type DescMessage, fromBinary, type Message, type MessageShape } from "@bufbuild/protobuf";

import type { EventEnvelope } from "./bus.ts";

/** The groups of a process are handed the same events, so that one of them decodes for all. */
const decoded = new WeakMap<EventEnvelope, Message>();

/** The message of an event of this type; nothing of another one. Whoever else reads it gets the same. */
export function eventMessage<Desc extends DescMessage>(
  event: EventEnvelope,
  schema: Desc,
): Readonly<MessageShape<Desc>> | undefined {
  if (event.type !== schema.typeName) return undefined;
  const known = decoded.get(event);
  // An event has one type, and so its message has that of the schema.
  if (known !== undefined) return known as MessageShape<Desc>;
  const message = fromBinary(schema, event.payload);
  decoded.set(event, message);
  return message;
}
