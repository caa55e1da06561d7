import { WebhookService } from "@scrip/proto/scrip/export/v1/webhooks_pb";

import type { CompileStep } from "./step.ts";

const { createWebhook, updateWebhook, deleteWebhook } = WebhookService.method;
const CHANGES: ReadonlySet<unknown> = new Set([createWebhook, updateWebhook, deleteWebhook]);

/** Services publish changes of resources only for names that a webhook of the project receives. */
export const followWebhooksStep: CompileStep = ({ rpc }, { webhooks, followProject }) => {
  if (!CHANGES.has(rpc) || webhooks === undefined) return undefined;
  return (next) => async (message, call) => {
    const response = await next(message, call);
    await followProject(call.project.id, async ({ webhookEvents: known }) => {
      const webhookEvents = [...new Set(await webhooks.eventNames(call))].toSorted();
      return webhookEvents.join() === known.join() ? undefined : { webhookEvents };
    });
    return response;
  };
};
