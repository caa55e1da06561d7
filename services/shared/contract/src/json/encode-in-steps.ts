import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";

import { jsonNameOf, ruleOf, shapeOf } from "../options.ts";
import {
  compileMember,
  compileSingle,
  compileStart,
  type EncodeMember,
  type Fields,
  type Find,
  membersOf,
} from "./encode.ts";

/**
 * Encodes a message as JSON, yielding after each item of its lists of messages, also of a page inside it; long text
 * in several parts.
 */
export type EncodeInSteps = (message: Message) => Generator<void, string | readonly Buffer[]>;

/** For responses with lists of messages, which may be long; undefined for others. */
export function compileSteps(desc: DescMessage, find: Find): EncodeInSteps | undefined {
  if (!membersOf(desc).some((field) => isList(field) || isPage(field))) return undefined;
  const write = compileObject(desc, find);
  return function* encodeInSteps(message: Fields) {
    const text = createText();
    yield* write(message, text);
    return text.end();
  };
}

type WriteInSteps = (message: Fields, text: Text) => Generator<void, void>;

function compileObject(desc: DescMessage, find: Find): WriteInSteps {
  const startOf = compileStart(desc);
  const members = membersOf(desc).map((field) => compileSteppedMember(field, find));
  return function* writeObject(message, text) {
    let separator = startOf === undefined ? "" : ",";
    text.add(startOf?.(message) ?? "{");
    for (const { whole, isLong, write } of members) {
      if (isLong(message)) {
        text.add(separator);
        yield* write(message, text);
      } else {
        const part = whole(message);
        if (part === "") continue;
        text.add(separator + part);
      }
      separator = ",";
    }
    text.add("}");
  };
}

type ListField = DescField & { readonly fieldKind: "list"; readonly message: DescMessage };

const isList = (field: DescField): field is ListField =>
  field.fieldKind === "list" && field.message !== undefined;

/** A message around a list, such as `{"object": "list", "data": [...]}`. */
const isPage = (
  field: DescField,
): field is DescField & { readonly fieldKind: "message"; readonly message: DescMessage } =>
  field.fieldKind === "message" &&
  field.oneof === undefined &&
  shapeOf(field.message).object === "list" &&
  field.message.fields.some(isList);

type SteppedMember = {
  readonly whole: EncodeMember;
  /** Whether the member has several items, which are encoded one by one. */
  readonly isLong: (message: Fields) => boolean;
  readonly write: WriteInSteps;
};

function compileSteppedMember(field: DescField, find: Find): SteppedMember {
  const whole = compileMember(field, find);
  if (isList(field)) return { whole, ...compileList(field, find) };
  if (isPage(field)) {
    const { localName, message: desc } = field;
    const lists = desc.fields.filter(isList).map((list) => compileList(list, find));
    const start = `${JSON.stringify(jsonNameOf(field))}:`;
    const writeObject = compileObject(desc, find);
    return {
      whole,
      isLong: (message) => {
        const page = message[localName] as Fields | undefined;
        return page !== undefined && lists.some(({ isLong }) => isLong(page));
      },
      *write(message, text) {
        text.add(start);
        yield* writeObject(message[localName] as Fields, text);
      },
    };
  }
  return { whole, isLong: () => false, write: writeNothing };
}

function compileList(field: ListField, find: Find): Omit<SteppedMember, "whole"> {
  const { localName } = field;
  const encode = compileSingle(field, ruleOf(field), find);
  const start = `${JSON.stringify(jsonNameOf(field))}:[`;
  const items = (message: Fields) => message[localName] as readonly Fields[];
  return {
    isLong: (message) => items(message).length > 1,
    *write(message, text) {
      let separator = start;
      for (const item of items(message)) {
        text.add(separator);
        text.add(encode(item));
        separator = ",";
        yield;
      }
      text.add("]");
    },
  };
}

function* writeNothing(): Generator<void, void> {}

type Text = ReturnType<typeof createText>;

/**
 * Concatenated strings of this length are flattened into bytes, so that flattening does not block
 * at the end.
 */
const LONG_TEXT = 64 * 1024;

function createText() {
  const done: Buffer[] = [];
  let text = "";
  return {
    add(part: string): void {
      text += part;
      if (text.length < LONG_TEXT) return;
      done.push(Buffer.from(text));
      text = "";
    },
    end: (): string | readonly Buffer[] =>
      done.length === 0 ? text : [...done, Buffer.from(text)],
  };
}
