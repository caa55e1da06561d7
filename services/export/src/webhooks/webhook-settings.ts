import { type Env, readEnv, variable } from "@scrip/config";

import type { TargetPolicy } from "../domain/webhook-target.ts";

export type WebhookSettings = TargetPolicy & {
  /** Header of the signature. */
  readonly signatureHeader: string;
};

export const DEFAULT_WEBHOOK_SETTINGS: WebhookSettings = {
  allowHttp: false,
  allowPrivate: false,
  signatureHeader: "x-webhook-signature",
};

export const readWebhookSettings = (env: Env): WebhookSettings =>
  readEnv(env, {
    allowHttp: {
      name: "SCRIP_WEBHOOK_ALLOW_HTTP",
      reader: variable.withDefault(variable.boolean, DEFAULT_WEBHOOK_SETTINGS.allowHttp),
    },
    allowPrivate: {
      name: "SCRIP_WEBHOOK_ALLOW_PRIVATE",
      reader: variable.withDefault(variable.boolean, DEFAULT_WEBHOOK_SETTINGS.allowPrivate),
    },
    signatureHeader: {
      name: "SCRIP_WEBHOOK_SIGNATURE_HEADER",
      reader: variable.withDefault(variable.text, DEFAULT_WEBHOOK_SETTINGS.signatureHeader),
    },
  });
