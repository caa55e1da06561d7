import { expect, test } from "vitest";

import { bindingAt } from "../../test/transcode/public-contract.ts";
import { createTranscoder } from "./transcoder.ts";

const transcoder = createTranscoder().bind(bindingAt("POST", "/v1/vouchers/qualification"));

const LONG = "x".repeat(256);

test.each([
  ["limit=51", {}, "invalid_query_params", ".limit cannot be higher than 50"],
  ["order=code", {}, "invalid_query_params", ".order must be one of: "],
  ["order=created_at", { order: { source_id: LONG } }, "invalid_payload", ".order.source_id "],
  ["limit=5", { limit: 51 }, "invalid_payload", ".limit cannot be higher than 50"],
])("names the part of the request that is out of bounds: ?%s %j", (query, body, key, details) => {
  const decode = () =>
    transcoder.decode({ path: [], query, body: Buffer.from(JSON.stringify(body)) });
  expect(decode).toThrow(
    expect.objectContaining({
      key,
      options: { details: expect.stringContaining(`Property ${details}`) },
    }),
  );
});
