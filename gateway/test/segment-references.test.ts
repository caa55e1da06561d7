import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { ApiError, notFound } from "@scrip/errors";
import {
  ListTiersNamingSegmentResponseSchema,
  ReferralTierSchema,
  ReferralTierService,
} from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";
import { SegmentSchema, SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import { afterAll, beforeEach, expect, test } from "vitest";

import { newToken, send, serverHeaders } from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { stubService } from "./service-stubs.ts";

/** The RPCs that were called, in their order. */
const called: string[] = [];
let failures: Readonly<Record<string, Error>> = {};
let isNamed = false;
beforeEach(() => {
  called.length = 0;
  failures = {};
  isNamed = false;
});

const rpc =
  <Response>(name: string, response: () => Response) =>
  async (): Promise<Response> => {
    called.push(name);
    if (failures[name] !== undefined) throw failures[name];
    return response();
  };

/** Without a validation service. */
const gateway = await startTestGateway({
  implementations: [
    stubService(SegmentService, {
      getSegment: rpc("GetSegment", () => create(SegmentSchema, { id: "seg_1" })),
      followSegment: rpc("FollowSegment", () => create(EmptySchema)),
      deleteSegment: rpc("DeleteSegment", () => create(EmptySchema)),
    }),
    stubService(ReferralTierService, {
      createReferralTier: rpc("CreateReferralTier", () =>
        create(ReferralTierSchema, { id: "rtr_1" }),
      ),
      listTiersNamingSegment: rpc("ListTiersNamingSegment", () =>
        create(
          ListTiersNamingSegmentResponseSchema,
          isNamed ? { tierIds: ["rtr_1"], total: 1n } : {},
        ),
      ),
    }),
  ],
});
afterAll(() => gateway[Symbol.asyncDispose]());
const headers = serverHeaders(gateway.keys, await newToken(gateway, gateway.keys, "api"));
const createTier = (more: Readonly<Record<string, string>> = {}) =>
  send(`${gateway.url}/v1/referrals/camp_1/tiers`, "POST", {
    headers: { ...headers, ...more },
    body: {
      name: "Tier",
      segment_id: "seg_1",
      condition: { type: "EACH_UNIQUE_REFEREE", count: 1 },
      reward: { related_object_parent: { id: "camp_2" }, type: "GIFT_VOUCHER", amount: 1 },
    },
  });
const deleteSegment = () => send(`${gateway.url}/v1/segments/seg_1`, "DELETE", { headers });
const unimplemented = (name: string) => ({ [name]: new ConnectError(name, Code.Unimplemented) });

test("a segment is followed once the tier that names it is written", async () => {
  expect((await createTier()).status).toBe(200);
  expect(called).toEqual(["GetSegment", "CreateReferralTier", "FollowSegment"]);
});

test("a rejected tier leaves the segment as it is", async () => {
  failures = { CreateReferralTier: notFound("campaign", "camp_1") };
  expect((await createTier()).status).toBe(404);
  expect(called).toEqual(["GetSegment", "CreateReferralTier"]);
});

test("a tier that names an unknown segment is not written", async () => {
  failures = { GetSegment: notFound("segment", "seg_1") };
  expect((await createTier()).json).toMatchObject({ key: "not_found", resource_type: "segment" });
  expect(called).toEqual(["GetSegment"]);
});

test("a segment that could not be followed is followed by the repetition of the request", async () => {
  failures = { FollowSegment: new ApiError("service_unavailable") };
  const key = { "idempotency-key": "tier-1" };
  expect((await createTier(key)).status).toBe(503);
  failures = {};
  expect((await createTier(key)).status).toBe(200);
  expect(called.slice(3)).toEqual(["GetSegment", "CreateReferralTier", "FollowSegment"]);
});

test("tiers are written while loyalty is of a release that does not follow their segments", async () => {
  failures = unimplemented("FollowSegment");
  expect((await createTier()).status).toBe(200);
});

test("a segment that a tier names is not deleted, also where no rules are known", async () => {
  isNamed = true;
  expect(await deleteSegment()).toMatchObject({
    status: 400,
    json: { key: "resource_in_use", related_object_type: "referral_tier" },
  });
  isNamed = false;
  expect((await deleteSegment()).status).toBe(204);
  expect(called.slice(1)).toEqual(["ListTiersNamingSegment", "DeleteSegment"]);
});

test("segments are deleted while campaign is of a release that does not find their tiers", async () => {
  failures = unimplemented("ListTiersNamingSegment");
  expect((await deleteSegment()).status).toBe(204);
});
