import { bindingsOf } from "@scrip/contract";
import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { expect, test } from "vitest";

import { createTranscoder } from "./transcoder.ts";

test("an update mask lists null one level below a field by its path", () => {
  const binding = bindingsOf([CampaignService]).find(
    ({ httpMethod, path }) => `${httpMethod} ${path}` === "PUT /v1/campaigns/{campaign_id}",
  );
  if (binding === undefined) throw new Error("no PUT of a campaign");
  const body = {
    loyalty_card: { expiration_rules: null, points: 3, junk: null },
    metadata: { fields: null },
    "gift.effect": null,
  };
  const parts = { path: ["Club"], query: "", body: Buffer.from(JSON.stringify(body)) };
  expect(createTranscoder().bind(binding).decode(parts)).toMatchObject({
    updateMask: { paths: ["loyalty_card", "loyalty_card.expiration_rules", "metadata"] },
  });
});
