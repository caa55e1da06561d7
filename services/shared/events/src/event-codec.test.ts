import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { expect, test } from "vitest";

import { readEvent, type StoredEvent, writeEvent } from "./event-codec.ts";

const EVENT: StoredEvent = {
  id: "e",
  projectId: "p",
  key: "k",
  type: "t",
  headers: { a: "b" },
  payload: Uint8Array.of(255),
  occurredAt: new Date(1),
};

/** What earlier releases have stored: it must not change. */
const BYTES = "0a01651201701a016b2201742a097b2261223a2262227d3201ff3801";

const VERSIONED: StoredEvent = { ...EVENT, schemaVersion: 2, entityVersion: 300n, epoch: 1 };
const VERSIONED_BYTES = `${BYTES}400248ac025001`;

test.each([
  ["an event", EVENT, BYTES],
  ["an event with versions", VERSIONED, VERSIONED_BYTES],
])(
  "writes the bytes of %s that earlier releases the bytes that earlier releases read, and reads theirs",
  (_name, event, bytes) => {
    const writer = new BinaryWriter();
    writeEvent(writer, event);
    expect(Buffer.from(writer.finish()).toString("hex")).toBe(bytes);
    const reader = new BinaryReader(Buffer.from(bytes, "hex"));
    expect(readEvent(reader, reader.len)).toEqual({ ...event, payload: Buffer.of(255) });
  },
);

test("skips fields that a later release has added", () => {
  const reader = new BinaryReader(Buffer.from(`${BYTES}a20603616263`, "hex"));
  expect(readEvent(reader, reader.len)).toEqual({ ...EVENT, payload: Buffer.of(255) });
});
