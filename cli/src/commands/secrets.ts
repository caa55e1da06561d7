import { randomBytes } from "node:crypto";

import { generateBootstrap } from "@scrip/gateway/bootstrap";
import { generateServiceKey } from "@scrip/rpc";
import type { Command } from "commander";

import type { Context } from "../context.ts";

export function addSecrets(program: Command, context: Context): void {
  program
    .command("secrets")
    .description(
      "Create all secrets of a distributed installation, as a file of variables for containers.",
    )
    .action(() => printSecrets(context));
}

async function printSecrets({ print, note }: Context): Promise<void> {
  const secrets = await generateSecrets();
  print({
    json: secrets,
    // Without quotes: Docker and Kubernetes would take them as a part of the value.
    text: Object.entries(secrets)
      .map(([name, value]) => `${name}=${value}`)
      .join("\n"),
  });
  note(
    "Store them: without SCRIP_ASSET_SECRET the links of images break, without SCRIP_TRACKING_SECRET tracking ids change.",
  );
}

/** Those that processes read, and keys of the first project. */
async function generateSecrets(): Promise<Readonly<Record<string, string>>> {
  const { signing, trusted } = await generateServiceKey();
  const keys = generateBootstrap();
  return {
    SCRIP_SERVICE_KEY: JSON.stringify(signing),
    SCRIP_SERVICE_JWKS: JSON.stringify(trusted),
    SCRIP_ASSET_SECRET: newSecret(),
    SCRIP_TRACKING_SECRET: newSecret(),
    SCRIP_MANAGEMENT_ID: keys.managementId,
    SCRIP_MANAGEMENT_TOKEN: keys.managementToken,
    SCRIP_BOOTSTRAP_APP_ID: keys.appId,
    SCRIP_BOOTSTRAP_APP_TOKEN: keys.appToken,
    SCRIP_BOOTSTRAP_CLIENT_APP_ID: keys.clientAppId,
    SCRIP_BOOTSTRAP_CLIENT_TOKEN: keys.clientToken,
  };
}

const newSecret = (): string => randomBytes(32).toString("base64url");
