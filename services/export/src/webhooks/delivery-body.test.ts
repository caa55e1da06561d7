import { INTERNAL, originHeaders } from "@scrip/events";
import { describe, expect, test } from "vitest";

import { deliveryBody } from "./delivery-body.ts";

const caller = { side: "client", id: "client_1", name: "Web" } as const;

const webhook = {
  project_id: "proj_1",
  id: "wh_1",
  target_url: "https://shop.example",
  events: ["voucher.updated"],
  since: new Date(0),
};

const eventOf = (headers: Readonly<Record<string, string>>, groupId?: string) => {
  const body = deliveryBody({
    id: "whs_1",
    name: "voucher.updated",
    event: { id: "event_1", projectId: "proj_1", key: "v_1", headers },
    seen: {
      date: new Date(0),
      entityId: "v_1",
      channel: "API",
      ...(groupId !== undefined && { groupId }),
    },
    webhook,
    data: "{}",
    sequence: 1n,
  });
  return (JSON.parse(body) as { event: object }).event;
};

describe("the cause in the body of a delivery", () => {
  test("is the request and its API key", () => {
    expect(eventOf(originHeaders({ requestId: "v-1", caller }), "v-1")).toMatchObject({
      group_id: "v-1",
      event_source: {
        channel: "CLIENT_API",
        user: null,
        api_key: { name: "Web", app_id: "client_1" },
      },
    });
  });

  test("is the event itself when Scrip did it by itself", () => {
    expect(eventOf(originHeaders(INTERNAL))).toMatchObject({
      group_id: "event_1",
      event_source: { channel: "INTERNAL", user: null, api_key: null },
    });
  });

  test.each([
    ["v-2", "v-2"],
    [undefined, "event_1"],
  ])("is what the message says for events of an earlier release: %s", (groupId, expected) => {
    expect(eventOf({}, groupId)).toMatchObject({
      group_id: expected,
      event_source: { channel: "API", user: null, api_key: null },
    });
  });
});
