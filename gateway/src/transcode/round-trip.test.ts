import {
  type DescMessage,
  fromBinary,
  isFieldSet,
  type JsonObject,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { bindingsOf, compileCheck } from "@scrip/contract";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";
import { ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import { TokenService } from "@scrip/proto/scrip/gateway/v1/tokens_pb";
import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { createDecoders } from "./decode.ts";
import { createEncoders } from "./encode.ts";
import { readJson } from "./json-reader.ts";
import { messageArbitrary } from "./testing/message-arbitrary.ts";

const bindings = bindingsOf([
  CategoryService,
  ProjectService,
  TokenService,
  ValidationService,
  RedemptionService,
  VoucherService,
]);

/** Every message that stands in a public request or answer, also within another. */
function publicMessages(): DescMessage[] {
  const found = new Map<string, DescMessage>();
  const visit = (desc: DescMessage): void => {
    if (found.has(desc.typeName) || desc.typeName.startsWith("google.")) return;
    found.set(desc.typeName, desc);
    for (const { message } of desc.fields) if (message !== undefined) visit(message);
  };
  for (const { method } of bindings) {
    visit(method.input);
    visit(method.output);
  }
  visit(ErrorSchema);
  return [...found.values()];
}

const decoders = createDecoders("json");
const encoderOf = createEncoders();

describe.each(publicMessages().map((desc) => [desc.typeName, desc] as const))("%s", (_, desc) => {
  const arbitrary = messageArbitrary(desc);
  const encode = encoderOf(desc);
  const decode = (text: string): unknown =>
    decoders(desc).fromObject(readJson(Buffer.from(text)) as JsonObject);

  test("comes back from JSON as it was, and is a message to protobuf-es", () => {
    fc.assert(
      fc.property(arbitrary, (message) => {
        const decoded = decode(encode(message as unknown as Message)) as Message;
        expect(decoded).toStrictEqual(message);
        expect(fromBinary(desc, toBinary(desc, decoded))).toEqual(message);
      }),
      { numRuns: 40 },
    );
  });

  test("has the same fields set and keeps the same rules after gRPC as after JSON", () => {
    const check = compileCheck(desc);
    fc.assert(
      fc.property(arbitrary, (message) => {
        const viaJson = decode(encode(message as unknown as Message)) as Message;
        const viaWire = fromBinary(desc, toBinary(desc, message as unknown as Message));
        for (const field of desc.fields) {
          expect(isFieldSet(viaJson, field)).toBe(isFieldSet(viaWire, field));
        }
        expect(check(viaJson)).toBe(check(viaWire));
      }),
      { numRuns: 20 },
    );
  });
});
