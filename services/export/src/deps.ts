import type { KeyedWork } from "@scrip/idempotency";
import type { newId } from "@scrip/ids";
import type { Database } from "@scrip/postgres";

import type { Clients } from "./clients.ts";
import type { FileStore } from "./files/file-store.ts";
import type { ImportKinds } from "./imports/import-jobs.ts";
import type { WebhookSettings } from "./webhooks/webhook-settings.ts";

/** The dependencies of handlers and jobs. The time comes from the call. */
export type Deps = Clients & {
  readonly db: Database;
  readonly newId: typeof newId;
  readonly files: FileStore;
  /** How long files of exports are retained. */
  readonly fileRetentionMs: number;
  /** The address of the API, without a slash at the end; links to files begin with it. */
  readonly baseUrl: string;
  readonly webhooks: WebhookSettings;
  /** Looks for due deliveries now, instead of within a second. */
  readonly wakeWebhooks: () => void;
  readonly importKinds: ImportKinds;
  /** Set for a request with an idempotency key: commits each step by itself. */
  readonly stepDb?: Database;
};

/** The dependencies for a request with an idempotency key. */
export const bindToRequest = (deps: Deps, work: KeyedWork): Deps => ({
  ...deps,
  db: work.db,
  newId: work.newId,
  stepDb: deps.db,
});
