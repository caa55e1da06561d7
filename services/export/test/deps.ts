import { newId } from "@scrip/ids";
import { AsyncActionService } from "@scrip/proto/scrip/export/v1/async_actions_pb";
import { WebhookService } from "@scrip/proto/scrip/export/v1/webhooks_pb";
import { clientOf, createDirectTransport, type FindProject } from "@scrip/rpc";
import { testDatabase } from "@scrip/testing";

import type { AnyJobDefinition } from "../src/jobs/job-definition.ts";
import { startJobWorker } from "../src/jobs/job-worker.ts";
import { routes } from "../src/routes.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { migrateQueueSchema } from "../src/store/queue-schema.ts";
import { DEFAULT_WEBHOOK_SETTINGS } from "../src/webhooks/webhook-settings.ts";

export type Exports = Awaited<ReturnType<typeof startExports>>;

/** Every id is that of an existing project in real time. */
const anyProject: FindProject = ({ projectId }) => ({
  project: { id: projectId, timeZone: "UTC", caseSensitiveCodes: true },
  sandboxNow: null,
  deleted: projectId.endsWith("deleted"),
});

/** The service on a database of its own, without workers. */
export async function startExports() {
  await using parts = new AsyncDisposableStack();
  const db = parts.use(await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS }));
  await migrateQueueSchema({ url: db.url, role: ROLE });
  const transport = createDirectTransport(
    routes({ db, newId, webhooks: DEFAULT_WEBHOOK_SETTINGS, wakeWebhooks: () => {} }),
  );
  const errors: Error[] = [];
  const running = parts.move();
  return {
    db,
    asyncActions: clientOf(AsyncActionService, transport),
    webhooks: clientOf(WebhookService, transport),
    /** What workers reported. */
    errors,
    /** Starts a worker that carries out these jobs. */
    startWorker: (definitions: readonly AnyJobDefinition[]) =>
      startJobWorker({
        url: db.url,
        schema: SCHEMA,
        role: ROLE,
        db,
        definitions,
        findProject: anyProject,
        onError: (error) => errors.push(error),
      }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
