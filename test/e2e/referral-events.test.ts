import { describe, expect, test } from "vitest";

import { type Json, managementApi, newCode, newProject } from "../stack/api.ts";
import { errorOf, ok, TEN_PERCENT } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("custom events of referral programs (%s)", async (composition) => {
  const stack = await sharedStack(composition);

  test("have the id and name of their schema, and must exist in a project with schemas", async () => {
    const { id: projectId, api } = await newProject(stack);
    const create = (event: Json) =>
      api.post("/v1/campaigns", {
        name: newCode("referral"),
        campaign_type: "REFERRAL_PROGRAM",
        voucher: { type: "DISCOUNT_VOUCHER", discount: TEN_PERCENT },
        referral_program: { conversion_event_type: "custom_event", custom_event: event },
      });
    const early = await ok(create({ name: "anything" }));
    expect(early["referral_program"].custom_event).toEqual({ id: null, name: "anything" });
    const { id } = await ok(
      managementApi(stack).post(`/management/v1/projects/${projectId}/custom-event-schemas`, {
        name: "signed up",
        schema: { properties: {} },
      }),
    );
    const event = { id, name: "signed up" };
    for (const sent of [
      { id },
      { name: "signed up" },
      { id: "ms_of_another_project", name: "signed up" },
    ]) {
      const campaign = await ok(create(sent));
      expect(campaign["referral_program"].custom_event).toEqual(event);
    }
    const path = `/v1/campaigns/${early["id"]}`;
    const update = { conversion_event_type: "custom_event", custom_event: { id } };
    const updated = await ok(api.put(path, { referral_program: update }));
    expect(updated["referral_program"].custom_event).toEqual(event);
    for (const [sent, status, key] of [
      [{ name: "left" }, 404, "not_found"],
      [{ id: "ms_none" }, 404, "not_found"],
      [{ id: 1 }, 400, "invalid_payload"],
      [{}, 400, "invalid_campaign"],
    ] as const) {
      expect((await errorOf(create(sent))).slice(0, 2)).toEqual([status, key]);
    }
  });
});
