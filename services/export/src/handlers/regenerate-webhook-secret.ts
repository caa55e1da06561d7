import { randomBytes } from "node:crypto";

import { create } from "@bufbuild/protobuf";
import { type WebhookService, WebhookSecretSchema } from "@scrip/proto/scrip/export/v1/webhooks_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { replaceSecret } from "../store/webhooks.ts";

export const regenerateWebhookSecret =
  (deps: Deps): Handler<typeof WebhookService.method.regenerateWebhookSecret> =>
  async (_, { project }) => {
    const secret = randomBytes(32).toString("hex");
    await replaceSecret(deps.db, project.id, secret);
    return create(WebhookSecretSchema, { secret });
  };
