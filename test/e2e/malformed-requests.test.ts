import { describe, expect, test } from "vitest";

import { type Json, serverApi } from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const voucherOf = (id: string): Json => ({ object: "voucher", id });

const MALFORMED: readonly (readonly [name: string, body: Json, expected: Json])[] = [
  ["no redeemables", {}, { key: "invalid_payload" }],
  ["an empty list", { redeemables: [] }, { key: "invalid_payload" }],
  [
    "too many redeemables",
    { redeemables: Array.from({ length: 31 }, (_, index) => voucherOf(`V${index}`)) },
    { key: "invalid_payload" },
  ],
  [
    "a redeemable without an id",
    { redeemables: [voucherOf("A"), { object: "voucher" }] },
    {
      key: "invalid_payload",
      details: "Property .redeemables[1] should have required property 'id'",
    },
  ],
  [
    "an unknown object type",
    { redeemables: [{ object: "coupon", id: "A" }] },
    { key: "invalid_payload" },
  ],
  [
    "a duplicate redeemable",
    { redeemables: [voucherOf("A"), voucherOf("A")] },
    {
      key: "duplicated_redeemables",
      message: "Duplicated redeemables detected",
      details: "Duplicated redeemables detected in one redemption",
    },
  ],
  [
    "a promotion stack with other redeemables",
    { redeemables: [{ object: "promotion_stack", id: "stack_1" }, voucherOf("A")] },
    {
      key: "invalid_redeemables",
      message: "Invalid redeemables",
      details: "Promotion Stack cannot be use with other redeemables",
    },
  ],
  [
    "a negative amount",
    { redeemables: [voucherOf("A")], order: { amount: -1 } },
    { key: "invalid_order" },
  ],
  [
    "an unknown order",
    { redeemables: [voucherOf("A")], order: { id: "ord_0" } },
    { code: 404, key: "not_found", resource_type: "order", resource_id: "ord_0" },
  ],
  [
    "an unknown customer",
    { redeemables: [voucherOf("A")], customer: { id: "cust_0" } },
    { code: 404, key: "not_found", resource_type: "customer", resource_id: "cust_0" },
  ],
  ...["customer", "order"].map(
    (resource) =>
      [
        `an empty source id of the ${resource}`,
        { redeemables: [voucherOf("A")], [resource]: { source_id: "" } },
        {
          key: "invalid_payload",
          details: `Property .${resource}.source_id must NOT have fewer than 1 characters`,
        },
      ] as const,
  ),
  [
    "a tracking id of another customer",
    { redeemables: [voucherOf("A")], customer: { source_id: "ann" }, tracking_id: "bob" },
    { key: "ambiguous_tracking_id", message: "Ambiguous trackingId ('bob' vs. 'ann')" },
  ],
];

describe.each(COMPOSITIONS)("malformed requests (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test.each(MALFORMED)("are rejected as a whole: %s", async (_name, body, expected) => {
    for (const path of ["/v1/validations", "/v1/redemptions"]) {
      const response = await api.post(path, body);
      expect(response.status, response.text).toBe(expected["code"] ?? 400);
      expect(response.body).toMatchObject(expected);
      // What is malformed is not recorded.
      expect(String(response.body["resource_id"])).not.toMatch(/^rf_/);
    }
  });

  test.each<[path: string, body: unknown, details: string]>([
    [
      "/v1/loyalties/camp_0/tiers",
      [{ name: "Gold", points: { to: 5 } }],
      "Property [0].points should have required property 'from'",
    ],
    [
      "/v1/loyalties/members/CARD/pending-points/lopp_0/balance",
      {},
      "Payload should have required property 'points'",
    ],
    [
      "/v1/loyalties/members/CARD/pending-points/lopp_0/balance",
      { points: 1.5 },
      "Property .points must be integer",
    ],
  ])(
    "reject a missing or malformed number, and do not count it as zero: %s",
    async (path, body, details) => {
      const response = await api.post(path, body);
      expect(response.status, response.text).toBe(400);
      expect(response.body).toMatchObject({ key: "invalid_payload", details });
    },
  );
});
