import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";

import { jsonNameOf, ruleOf } from "../options.ts";
import {
  compileMember,
  compileSingle,
  compileStart,
  type EncodeMember,
  type Fields,
  type Find,
  membersOf,
} from "./encode.ts";

/** Encodes a message as JSON, yielding after each item of its lists of messages; long text in several parts. */
export type EncodeInSteps = (message: Message) => Generator<void, string | readonly Buffer[]>;

/** For responses with lists of messages, which may be long; undefined for others. */
export function compileSteps(desc: DescMessage, find: Find): EncodeInSteps | undefined {
  const fields = membersOf(desc);
  if (!fields.some(isList)) return undefined;
  const startOf = compileStart(desc);
  const members = fields.map((field) => compileSteppedMember(field, find));
  return function* encodeInSteps(message: Fields) {
    const text = createText();
    let separator = startOf === undefined ? "" : ",";
    text.add(startOf?.(message) ?? "{");
    for (const { whole, items, write } of members) {
      const list = items(message);
      if (list.length < 2) {
        const part = whole(message);
        if (part === "") continue;
        text.add(separator + part);
      } else {
        text.add(separator);
        yield* write(list, text);
      }
      separator = ",";
    }
    text.add("}");
    return text.end();
  };
}

const isList = (field: DescField): boolean =>
  field.fieldKind === "list" && field.message !== undefined;

type SteppedMember = {
  readonly whole: EncodeMember;
  /** The items to encode one by one; empty for other fields. */
  readonly items: (message: Fields) => readonly Fields[];
  readonly write: (items: readonly Fields[], text: Text) => Generator<void, void>;
};

function compileSteppedMember(field: DescField, find: Find): SteppedMember {
  const whole = compileMember(field, find);
  if (field.fieldKind !== "list" || field.message === undefined) {
    return { whole, items: () => NOTHING, write: writeNothing };
  }
  const { localName } = field;
  const encode = compileSingle(field, ruleOf(field), find);
  const start = `${JSON.stringify(jsonNameOf(field))}:[`;
  return {
    whole,
    items: (message) => message[localName] as readonly Fields[],
    *write(items, text) {
      let separator = start;
      for (const item of items) {
        text.add(separator);
        text.add(encode(item));
        separator = ",";
        yield;
      }
      text.add("]");
    },
  };
}

const NOTHING: readonly Fields[] = [];
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
