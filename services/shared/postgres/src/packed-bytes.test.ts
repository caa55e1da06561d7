import fc from "fast-check";
import { expect, test } from "vitest";

import { packBytes, unpackBytes } from "./packed-bytes.ts";

/** As protobuf: the first byte is a tag, never zero. */
const withTag = (bytes: Uint8Array): Uint8Array => Uint8Array.from([10, ...bytes]);
const restored = (message: Uint8Array): number[] => [...unpackBytes(packBytes(message))];

const phrase = fc.constantFrom(
  "APPLICABLE",
  "is valid at 2026-",
  "ordli_01a",
  "cust_01a2041a",
  "x",
);
const likeMessages = fc
  .array(fc.oneof(phrase, fc.string({ maxLength: 6 })), { maxLength: 400 })
  .map((parts) => withTag(Buffer.from(parts.join(""))));

test("restores every message, and never stores more bytes than it has", () => {
  const messages = fc.oneof(
    likeMessages,
    fc.uint8Array({ maxLength: 600 }).map(withTag),
    fc
      .tuple(fc.nat(255), fc.nat(5_000))
      .map(([byte, count]) => withTag(new Uint8Array(count).fill(byte))),
  );
  fc.assert(
    fc.property(messages, (message) => {
      expect(packBytes(message).length).toBeLessThanOrEqual(message.length);
      expect(restored(message)).toEqual([...message]);
    }),
  );
});

test("stores repetitions and known phrases in a fraction of their bytes", () => {
  const explanation = Buffer.from(
    "\n\nAPPLICABLE\x12\x15\n\x06active\x10\x01\x1a\tis active\x12/\n\x05dates\x10\x01\x1a$is valid at 2027-01-02T03:04:05.678Z" +
      "\x121\n\x08quantity\x10\x01\x1a!redeemed 7 times, without a limitP\x00\x12\x19\n\x06effect\x1a\x0fchanges nothing",
    "latin1",
  );
  expect(packBytes(explanation).length).toBeLessThan(explanation.length / 2.5);
  const lines = withTag(Buffer.from("ordli_0123456789 sku-1 ".repeat(40)));
  expect(packBytes(lines).length).toBeLessThan(60);
});

test("returns messages of earlier releases as they are", () => {
  const stored = Uint8Array.from([10, 3, 1, 2, 3]);
  expect(unpackBytes(stored)).toBe(stored);
  expect([...unpackBytes(new Uint8Array())]).toEqual([]);
});

test("rejects bytes that no release has written", () => {
  expect(() => unpackBytes(Uint8Array.from([0, 9]))).toThrow("unknown form 9");
  expect(() => unpackBytes(Uint8Array.from([0, 1, 200, 1, 0x40, 1]))).toThrow("ends early");
});
