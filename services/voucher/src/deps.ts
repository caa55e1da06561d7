import type { newId } from "@scrip/ids";
import type { Database } from "@scrip/postgres";
import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Client } from "@scrip/rpc";

import type { AssetCipher } from "./image/asset-cipher.ts";
import type { DefinitionCache } from "./loading/definition-cache.ts";

/** Everything a handler may touch. The clock is the call's. */
export type Deps = {
  readonly db: Database;
  readonly newId: typeof newId;
  readonly definitions: DefinitionCache;
  readonly assets: AssetCipher;
  readonly customers: Client<typeof CustomerService>;
  /** The points of loyalty cards. */
  readonly cards: Client<typeof CardService>;
  /** Told of what went wrong without the caller being told why. */
  readonly onError: (error: Error) => void;
  /** Told after each commit that wrote events, so that they need not wait for a poll. */
  readonly onEvents: () => void;
};
