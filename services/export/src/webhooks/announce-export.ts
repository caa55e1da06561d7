import { currentTime } from "@scrip/clock";
import { originHeaders } from "@scrip/events";
import { ExportSchema } from "@scrip/proto/scrip/export/v1/exports_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { exportToProto } from "../mapping/export.ts";
import type { StoredExport } from "../store/exports.ts";
import { insertDeliveries } from "../store/webhook-deliveries.ts";
import { findSubscribers } from "../store/webhooks.ts";
import { newDelivery } from "./new-delivery.ts";
import { encode, object } from "./resource-data.ts";

const NAME = "export.completed";

/** Stores the deliveries of a completed export. Repeatable: a webhook receives an export once. */
export async function announceExport(
  { db, baseUrl, wakeWebhooks }: Pick<Deps, "db" | "baseUrl" | "wakeWebhooks">,
  call: Pick<Call, "project" | "requestId" | "caller">,
  stored: StoredExport,
): Promise<void> {
  const projectId = call.project.id;
  const subscribers = await findSubscribers(db, [projectId]);
  const receivers = subscribers.filter(({ events }) => events.includes(NAME));
  if (receivers.length === 0) return;
  // The job ends with its next checkpoint.
  const message = exportToProto({ ...stored, status: "DONE" }, baseUrl);
  const data = object({ export: encode(ExportSchema, message) });
  const event = { id: stored.id, projectId, key: stored.id, headers: originHeaders(call) };
  const seen = { date: new Date(currentTime()), entityId: stored.id, channel: "API" };
  const deliveries = receivers.map((webhook) =>
    newDelivery({ name: NAME, event, seen, webhook, data }),
  );
  await db.transaction((tx) => insertDeliveries(tx, deliveries));
  wakeWebhooks();
}
