import path from "node:path";

import type { Transport } from "@connectrpc/connect";
import type { EventBus } from "@scrip/events";
import { newId } from "@scrip/ids";
import { createDatabase, migrate } from "@scrip/postgres";
import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { clientOf, type Service } from "@scrip/rpc";

import { onRedemption, REDEMPTIONS_TOPIC } from "./events/on-redemption.ts";
import { onVoucher, VOUCHERS_TOPIC } from "./events/on-voucher.ts";
import { startInboxTrim } from "./jobs/trim-inbox.ts";
import { createDefinitions } from "./loading/definition-cache.ts";
import { routes } from "./routes.ts";

export const SCHEMA = "campaign";
export const ROLE = "scrip_campaign";
export const MIGRATIONS = path.join(import.meta.dirname, "../migrations");

export type CampaignOptions = {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly transports: { readonly voucher: Transport };
  /** Where the events of other services come from; closed by its owner, after this service. */
  readonly bus: EventBus;
  readonly onError: (error: Error) => void;
};

/** What a consumer gets to finish its events in; the rest comes again at the next start. */
const CONSUMERS_CLOSE_MS = 3_000;

/** The service without a way to reach it: both compositions mount it. */
export async function createCampaignService(options: CampaignOptions): Promise<Service> {
  const { databaseUrl: url, poolSize, onError } = options;
  await migrate({ url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
  await using parts = new AsyncDisposableStack();
  const db = createDatabase({ url, schema: SCHEMA, role: ROLE, poolSize, onError });
  parts.defer(() => db.close());
  parts.use(startInboxTrim(db, onError));
  const vouchers = await options.bus.subscribe({
    group: "campaign",
    topics: [VOUCHERS_TOPIC],
    handler: onVoucher(db),
  });
  parts.defer(() => vouchers.close(CONSUMERS_CLOSE_MS));
  const redemptions = await options.bus.subscribe({
    group: "campaign-redemptions",
    topics: [REDEMPTIONS_TOPIC],
    handler: onRedemption(db),
  });
  parts.defer(() => redemptions.close(CONSUMERS_CLOSE_MS));
  const running = parts.move();
  return {
    name: "campaign",
    implementations: routes({
      db,
      newId,
      definitions: createDefinitions(db),
      vouchers: clientOf(CampaignVoucherService, options.transports.voucher),
    }),
    ready: () =>
      db.query("select 1").then(
        () => true,
        () => false,
      ),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
