import type { newId } from "@scrip/ids";
import type { Database } from "@scrip/postgres";
import type { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import type { Client } from "@scrip/rpc";

import type { Definitions } from "./loading/definition-cache.ts";

/** Everything a handler may touch. The clock is the call's. */
export type Deps = {
  readonly db: Database;
  readonly newId: typeof newId;
  readonly definitions: Definitions;
  readonly vouchers: Client<typeof CampaignVoucherService>;
};
