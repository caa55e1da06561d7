import path from "node:path";

import { readCampaignLimits } from "@scrip/campaign/config";
import type { Env } from "@scrip/config";
import { readKafkaConnection } from "@scrip/events";
import { openFileStore, readFileSettings } from "@scrip/export/service";
import { readWebhookSettings } from "@scrip/export/webhook-settings";
import { readGatewayConfig } from "@scrip/gateway/config";
import { readRetention } from "@scrip/rpc";

import { type Composition, type CompositionOptions, startScrip } from "./compose.ts";
import { displayedHost, type StandaloneConfig } from "./config.ts";
import { readKeys, readSecrets } from "./data-folder.ts";
import { releaseMemory } from "./release-memory.ts";

export type ServerOptions = {
  readonly config: StandaloneConfig;
  readonly databaseUrl: string;
  /** The data folder. */
  readonly folder: string;
} & Pick<CompositionOptions, "logger" | "metrics" | "counters">;

/** Serves requests in this process, with the settings of the environment and the secrets of the data folder. */
export async function startServer(
  env: Env,
  { config, databaseUrl, folder, ...own }: ServerOptions,
): Promise<Composition> {
  await releaseMemory();
  const { host, port, grpcPort } = config;
  return startScrip({
    ...own,
    host,
    port,
    grpcPort,
    databaseUrl,
    secrets: await readSecrets(folder),
    retention: readRetention(env),
    kafka: readKafkaConnection(env),
    webhooks: readWebhookSettings(env),
    files: await openFileStore(readFileSettings(env, path.join(folder, "exports"))),
    baseUrl: env["SCRIP_BASE_URL"]?.replace(/\/$/, "") ?? `http://${displayedHost(host)}:${port}`,
    limits: readCampaignLimits(env),
    gateway: readGatewayConfig({ ...bootstrapEnv(await readKeys(folder)), ...env }),
  });
}

function bootstrapEnv(keys: Readonly<Record<string, string>>): Record<string, string | undefined> {
  return {
    SCRIP_BOOTSTRAP_APP_ID: keys["SCRIP_APP_ID"],
    SCRIP_BOOTSTRAP_APP_TOKEN: keys["SCRIP_APP_TOKEN"],
    SCRIP_BOOTSTRAP_CLIENT_APP_ID: keys["SCRIP_CLIENT_APP_ID"],
    SCRIP_BOOTSTRAP_CLIENT_TOKEN: keys["SCRIP_CLIENT_TOKEN"],
    SCRIP_BOOTSTRAP_TRUSTED_DOMAINS: "*",
    SCRIP_MANAGEMENT_ID: keys["SCRIP_MANAGEMENT_ID"],
    SCRIP_MANAGEMENT_TOKEN: keys["SCRIP_MANAGEMENT_TOKEN"],
  };
}
