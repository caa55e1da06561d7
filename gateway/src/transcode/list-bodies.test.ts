import { bindingsOf } from "@scrip/contract";
import { ApiError } from "@scrip/errors";
import { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import { expect, test } from "vitest";

import { createTranscoder } from "./transcoder.ts";

const transcoder = createTranscoder();
const [createEarningRules] = bindingsOf([EarningRuleService])
  .filter(({ method }) => method.name === "CreateEarningRules")
  .map((binding) => transcoder.bind(binding));

const rule = { event: "customer.order.paid", loyalty: { type: "FIXED", points: 1 } };

test.each<[unknown, string]>([
  [undefined, "Payload must NOT have fewer than 1 items"],
  [[], "Payload must NOT have fewer than 1 items"],
  [{}, "Payload must be array"],
  [[5], "Property [0] must be object"],
  [[rule, {}], "Property [1] should have required property 'loyalty'"],
  [
    [{ ...rule, pending_points: {} }],
    "Property [0].pending_points should have required property 'period_type'",
  ],
])("names the place in a body that is a list: %j", (sent, details) => {
  const body = sent === undefined ? undefined : Buffer.from(JSON.stringify(sent));
  const decode = (): unknown => createEarningRules?.decode({ path: ["Loyalty"], query: "", body });
  expect(decode).toThrow(
    expect.objectContaining({
      constructor: ApiError,
      key: "invalid_payload",
      options: expect.objectContaining({ details }),
    }),
  );
});
