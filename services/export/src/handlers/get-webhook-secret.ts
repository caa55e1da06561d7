import { randomBytes } from "node:crypto";

import { create } from "@bufbuild/protobuf";
import { type WebhookService, WebhookSecretSchema } from "@scrip/proto/scrip/export/v1/webhooks_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { ensureSecret } from "../store/webhooks.ts";

/** A project without a secret gets one, so that receivers can be prepared before the first webhook exists. */
export const getWebhookSecret =
  (deps: Deps): Handler<typeof WebhookService.method.getWebhookSecret> =>
  async (_, { project }) => {
    const secret = await ensureSecret(deps.db, project.id, randomBytes(32).toString("hex"));
    return create(WebhookSecretSchema, { secret });
  };
