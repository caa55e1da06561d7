import {
  fromBinary,
  isFieldSet,
  type JsonObject,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { compileCheck } from "@scrip/contract";
import { compileSteps, createEncoders } from "@scrip/contract";
import { repetitions } from "@scrip/testing/repetitions";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { messageArbitrary } from "../../test/transcode/message-arbitrary.ts";
import { publicMessages } from "../../test/transcode/public-contract.ts";
import { createDecoders } from "./decode.ts";
import { readJson } from "./json-reader.ts";

const decoders = createDecoders("json");
const encoderOf = createEncoders();

/** Messages of each type. Types share the code of their fields, so all types together are thousands of messages. */
const RUNS = repetitions({ usual: 10, full: 20 });

describe.each(publicMessages().map((desc) => [desc.typeName, desc] as const))("%s", (_, desc) => {
  const arbitrary = messageArbitrary(desc);
  const encode = encoderOf(desc);
  const decode = (text: string): unknown =>
    decoders(desc).fromObject(readJson(Buffer.from(text)) as JsonObject);

  test("survives a round trip through JSON as a protobuf-es message", () => {
    fc.assert(
      fc.property(arbitrary, (message) => {
        const decoded = decode(encode(message)) as Message;
        expect(decoded).toStrictEqual(message);
        expect(fromBinary(desc, toBinary(desc, decoded))).toEqual(message);
      }),
      { numRuns: 2 * RUNS },
    );
  });

  test("is encoded in steps to the same text", () => {
    const encodeInSteps = compileSteps(desc, encoderOf);
    if (encodeInSteps === undefined) return;
    fc.assert(
      fc.property(arbitrary, (message) => {
        const sent = message as unknown as Message;
        const parts = endOf(encodeInSteps(sent));
        const text = typeof parts === "string" ? parts : String(Buffer.concat(parts));
        expect(text).toBe(encode(sent));
      }),
      { numRuns: RUNS },
    );
  });

  test("has the same fields after gRPC and JSON, and passes both checks", () => {
    const check = compileCheck(desc);
    const checkFromJson = compileCheck(desc, { fromJson: true });
    fc.assert(
      fc.property(arbitrary, (message) => {
        const viaJson = decode(encode(message)) as Message;
        const viaWire = fromBinary(desc, toBinary(desc, message as unknown as Message));
        for (const field of desc.fields) {
          expect(isFieldSet(viaJson, field)).toBe(isFieldSet(viaWire, field));
        }
        expect(check(viaWire)).toBeUndefined();
        expect(checkFromJson(viaJson)).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  });
});

function endOf<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
