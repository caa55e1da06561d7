import { Code, ConnectError } from "@connectrpc/connect";
import { newId, requestId } from "@scrip/ids";
import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { type Call, clientOf, createDirectTransport, implement } from "@scrip/rpc";
import { testDatabase, type TestDatabase } from "@scrip/testing";

import { createDefinitionCaches } from "../src/loading/definition-cache.ts";
import { routes } from "../src/routes.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";

export const NOON = Date.parse("2026-11-21T12:00:00Z");

/** The service on a database of its own, with a voucher service that can do next to nothing. */
export async function startFixture() {
  const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
  return {
    db,
    ...startProcess(db),
    /** Another process of the service on the same database. */
    replica: () => startProcess(db),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

/** Takes notice of campaigns, and is out of reach for anything else. */
const idleVouchers = implement(CampaignVoucherService, {
  createVouchers: ({ items }) =>
    items.length === 0
      ? Promise.resolve({ $typeName: "scrip.voucher.v1.CreateVouchersResponse", outcomes: [] })
      : Promise.reject(new ConnectError("out of reach", Code.Unimplemented)),
  updateVouchers: () => Promise.reject(new ConnectError("out of reach", Code.Unimplemented)),
});

function startProcess(db: TestDatabase) {
  const transport = createDirectTransport(
    routes({
      db,
      newId,
      definitions: createDefinitionCaches(db),
      vouchers: clientOf(CampaignVoucherService, createDirectTransport([idleVouchers])),
    }),
  );
  return {
    campaigns: clientOf(CampaignService, transport),
    promotions: clientOf(PromotionService, transport),
    categories: clientOf(CategoryService, transport),
  };
}

/** A call of a project of its own at noon. */
export const givenProject = (): Call => ({
  project: { id: newId("proj"), timeZone: "UTC", caseSensitiveCodes: true },
  requestId: requestId(),
  deadline: Date.now() + 60_000,
  now: NOON,
  caller: { side: "server", id: "app_test" },
});
