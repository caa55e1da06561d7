import type { KeyedWork } from "@scrip/idempotency";
import type { newId } from "@scrip/ids";
import type { Database } from "@scrip/postgres";

import type { WebhookSettings } from "./webhooks/webhook-settings.ts";

/** The dependencies of handlers. The time comes from the call. */
export type Deps = {
  readonly db: Database;
  readonly newId: typeof newId;
  readonly webhooks: WebhookSettings;
  /** Looks for due deliveries now, instead of within a second. */
  readonly wakeWebhooks: () => void;
};

/** The dependencies for a request with an idempotency key. */
export const bindToRequest = (deps: Deps, work: KeyedWork): Deps => ({
  ...deps,
  db: work.db,
  newId: work.newId,
});
