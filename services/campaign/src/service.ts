import path from "node:path";

import type { Transport } from "@connectrpc/connect";
import { newId } from "@scrip/ids";
import { createDatabase, migrate } from "@scrip/postgres";
import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { clientOf, type Service } from "@scrip/rpc";

import { createDefinitions } from "./definitions.ts";
import { routes } from "./routes.ts";

export const SCHEMA = "campaign";
export const ROLE = "scrip_campaign";
export const MIGRATIONS = path.join(import.meta.dirname, "../migrations");

export type CampaignOptions = {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly transports: { readonly voucher: Transport };
  readonly onError: (error: Error) => void;
};

/** The service without a way to reach it: both compositions mount it. */
export async function createCampaignService(options: CampaignOptions): Promise<Service> {
  const { databaseUrl: url, poolSize, onError } = options;
  await migrate({ url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
  const db = createDatabase({ url, schema: SCHEMA, role: ROLE, poolSize, onError });
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
    [Symbol.asyncDispose]: () => db.close(),
  };
}
