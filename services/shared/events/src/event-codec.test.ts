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

test("writes the bytes that earlier releases read, and reads theirs", () => {
  const writer = new BinaryWriter();
  writeEvent(writer, EVENT);
  expect(Buffer.from(writer.finish()).toString("hex")).toBe(BYTES);
  const reader = new BinaryReader(Buffer.from(BYTES, "hex"));
  expect(readEvent(reader, reader.len)).toEqual({ ...EVENT, payload: Buffer.of(255) });
});
