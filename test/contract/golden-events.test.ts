import { toBinary, toJson } from "@bufbuild/protobuf";
import { type EventEnvelope, eventMessage } from "@scrip/events";
import { describe, expect, test } from "vitest";

import { eventSchemas, type GoldenEvent, readGoldenEvents } from "./make-golden-events.ts";

const schemas = new Map((await eventSchemas()).map((schema) => [schema.typeName, schema]));
const golden = readGoldenEvents();

test("each message of an event has golden bytes (make-golden-events.ts adds them)", () => {
  expect(schemas.size).toBeGreaterThan(20);
  expect(new Set(golden.map(({ type }) => type))).toEqual(new Set(schemas.keys()));
});

describe("bytes that a release has published", () => {
  test.each(golden)("$type, version $version, are read and written as they were", (event) => {
    const schema = schemas.get(event.type)!;
    const message = eventMessage(envelopeOf(event), schema)!;
    expect(toJson(schema, message)).toEqual(event.json);
    expect(message.$unknown).toBeUndefined();
    expect(Buffer.from(toBinary(schema, message)).toString("hex")).toBe(event.hex);
  });
});

const envelopeOf = ({ type, version, hex }: GoldenEvent): EventEnvelope => ({
  id: "event_1",
  topic: "scrip.test.v1",
  key: "key",
  projectId: "proj_1",
  type,
  schemaVersion: version,
  payload: Buffer.from(hex, "hex"),
  headers: {},
  occurredAt: new Date(0),
});
