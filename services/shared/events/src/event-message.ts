import { type DescMessage, fromBinary, type Message, type MessageShape } from "@bufbuild/protobuf";

import type { EventEnvelope } from "./bus.ts";
import { type Origin, originOf } from "./origin.ts";

/** The newest version of a message that this release can read. So far, every message is in its first version. */
const NEWEST_VERSION = 1;

/** The groups of a process receive the same events, so each event is decoded once for all of them. */
const decoded = new WeakMap<EventEnvelope, Message>();

/**
 * The decoded message of an event of this type; undefined for other types. All readers of the event
 * share it. Throws for a newer version of the message, which these readers would misread, so that the event becomes a
 * dead letter.
 */
export function eventMessage<Desc extends DescMessage>(
  event: EventEnvelope,
  schema: Desc,
): Readonly<MessageShape<Desc>> | undefined {
  if (event.type !== schema.typeName) return undefined;
  const { schemaVersion = 1 } = event;
  if (schemaVersion > NEWEST_VERSION) {
    throw new Error(
      `version ${schemaVersion} of ${event.type} is newer than version ${NEWEST_VERSION}, which this release reads`,
    );
  }
  const cached = decoded.get(event);
  // An event has one type, so its message has that of the schema.
  if (cached !== undefined) return cached as MessageShape<Desc>;
  const message = fromBinary(schema, event.payload);
  decoded.set(event, message);
  return message;
}

/** The decoded messages of the events of this type, each with the origin of its event. */
export const causedMessages = <Desc extends DescMessage>(
  events: readonly EventEnvelope[],
  schema: Desc,
): readonly {
  readonly message: Readonly<MessageShape<Desc>>;
  readonly origin: Origin | undefined;
}[] =>
  events.flatMap((event) => {
    const message = eventMessage(event, schema);
    return message === undefined ? [] : [{ message, origin: originOf(event) }];
  });
