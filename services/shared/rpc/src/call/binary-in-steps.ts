import {
  create,
  type DescField,
  type DescMessage,
  type Message,
  mergeFromBinary,
  toBinary,
} from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** Messages from this size on take long enough to delay other work. */
export const LONG_MESSAGE_BYTES = 64 * 1024;

/** Bytes that take about a millisecond to decode. */
const STEP_BYTES = 32 * 1024;

/**
 * Encodes a message as `toBinary` does, and yields about every millisecond. The encoding of a message is that of its
 * parts in any order, so the lists precede the other fields.
 */
export function* toBinaryInSteps(desc: DescMessage, message: Message): Generator<void, Buffer> {
  const encoded: Uint8Array[] = [];
  yield* writeParts(desc, message, (part) => {
    const bytes = toBinary(desc, part);
    encoded.push(bytes);
    return bytes.length;
  });
  return Buffer.concat(encoded);
}

type Fields = Record<string, unknown>;

/** Returns the bytes of what it has written. */
type Write<Value> = (value: Value) => number;

function* writeParts(desc: DescMessage, message: Message, write: Write<Message>): Generator<void> {
  const rest = { ...message } as Message & Fields;
  for (const { field, kind, child } of divisibleFields(desc)) {
    const { localName } = field;
    const value = rest[localName];
    if (value === undefined) continue;
    const writeField: Write<unknown> = (part) =>
      write(Object.assign(create(desc), { [localName]: part }));
    if (kind === "list") {
      yield* writeList(value as readonly Message[], writeField);
      rest[localName] = [];
    } else {
      yield* writeParts(child, value as Message, writeField);
      delete rest[localName];
    }
  }
  write(rest);
}

/** The size of a message is known only after it is encoded, so each part has as many as the last one encoded per millisecond. */
function* writeList(
  messages: readonly Message[],
  write: Write<readonly Message[]>,
): Generator<void> {
  let count = 1;
  for (let at = 0; at < messages.length;) {
    const bytes = write(messages.slice(at, at + count));
    at += count;
    if (bytes < STEP_BYTES / 2) count *= 2;
    else if (bytes > STEP_BYTES) count = Math.ceil(count / 2);
    yield;
  }
}

/**
 * Decodes a message as `fromBinary` does, and yields about every millisecond.
 */
export function* fromBinaryInSteps(desc: DescMessage, bytes: Uint8Array): Generator<void, Message> {
  const message = create(desc);
  yield* mergeInSteps(desc, message, bytes);
  return message;
}

function* mergeInSteps(desc: DescMessage, message: Message, bytes: Uint8Array): Generator<void> {
  const divisible = new Map(divisibleFields(desc).map((each) => [each.field.number, each]));
  const reader = new BinaryReader(bytes);
  let merged = 0;
  const mergeUntil = (end: number): void => {
    if (end > merged) mergeFromBinary(desc, message, bytes.subarray(merged, end));
    merged = end;
  };
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, wireType] = reader.tag();
    const found = wireType === WireType.LengthDelimited ? divisible.get(number) : undefined;
    if (found === undefined || found.kind === "list") reader.skip(wireType, number);
    else {
      const content = reader.bytes();
      if (content.length > STEP_BYTES) {
        mergeUntil(start);
        const fields = message as Message & Fields;
        const child = (fields[found.field.localName] ??= create(found.child)) as Message;
        yield* mergeInSteps(found.child, child, content);
        merged = reader.pos;
      }
    }
    if (reader.pos - merged >= STEP_BYTES) {
      mergeUntil(reader.pos);
      yield;
    }
  }
  mergeUntil(reader.len);
}

type DivisibleField = {
  readonly field: DescField;
  readonly kind: "list" | "message";
  readonly child: DescMessage;
};

const known = new WeakMap<DescMessage, readonly DivisibleField[]>();

/** Lists of messages, and messages that have some: not those of Google, which have representations of their own. */
function divisibleFields(desc: DescMessage): readonly DivisibleField[] {
  const found = known.get(desc);
  if (found !== undefined) return found;
  // Of recursive messages, the outer level is divided only.
  known.set(desc, []);
  const divisible = desc.fields.flatMap((field): DivisibleField[] => {
    const child = field.message;
    if (child === undefined || child.typeName.startsWith("google.")) return [];
    if (field.fieldKind === "list") {
      return field.delimitedEncoding ? [] : [{ field, kind: "list", child }];
    }
    const isPlain = field.fieldKind === "message" && field.oneof === undefined;
    if (!isPlain || field.delimitedEncoding) return [];
    return divisibleFields(child).length > 0 ? [{ field, kind: "message", child }] : [];
  });
  known.set(desc, divisible);
  return divisible;
}
