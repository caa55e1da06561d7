import { bindingsOf } from "@scrip/contract";
import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { expect, test } from "vitest";

import { bindingAt } from "../../test/transcode/public-contract.ts";
import { createTranscoder } from "./transcoder.ts";

const transcoder = createTranscoder();
const bindings = bindingsOf([CampaignService, VoucherService]);
const decoderOf =
  (method: string, path: string, segments: readonly string[] = []) =>
  (query: string) => {
    const binding = bindings.find((each) => each.httpMethod === method && each.path === path);
    if (binding === undefined) throw new Error(`no ${method} ${path}`);
    return transcoder.bind(binding).decode({ path: segments, query, body: undefined });
  };

test("rejects a parameter in two spellings, of which one would be ignored", () => {
  const decode = decoderOf("GET", "/v1/vouchers");
  for (const query of [
    "createdAt[after]=2026-01-01&created_at[before]=2026-01-02",
    "created_at[after]=2026-01-01&createdAt[before]=2026-01-02",
    "campaignId=camp_1&campaign_id=camp_2",
  ]) {
    expect(() => decode(query), query).toThrow(
      expect.objectContaining({
        key: "invalid_query_params",
        options: { details: expect.stringMatching(/^Query must not have both '\w+' and '\w+'$/) },
      }),
    );
  }
  expect(decode("utmSource=a&utm_source=b&createdAt[after]=2026-01-01")).toMatchObject({
    createdAt: { after: expect.anything() },
  });
});

test("names the query as the place of a violation in camel case", () => {
  const decode = decoderOf("POST", "/v1/campaigns/{campaign_id}/vouchers", ["Club"]);
  expect(() => decode("vouchersCount=0")).toThrow(
    expect.objectContaining({
      key: "invalid_query_params",
      options: { details: "Property .vouchers_count cannot be lower than 1" },
    }),
  );
});

test("never replaces a field of the path or of the body", () => {
  const decode = decoderOf("GET", "/v1/campaigns/{campaign_id}", ["Club"]);
  expect(decode("campaignId=Other")).toMatchObject({ campaignId: "Club" });
  const binding = transcoder.bind(bindingAt("POST", "/v1/vouchers/qualification"));
  const body = Buffer.from(JSON.stringify({ limit: 5 }));
  expect(binding.decode({ path: [], query: "Limit=7&_limit=8", body })).toMatchObject({
    limit: 5n,
  });
});
