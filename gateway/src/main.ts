import { once } from "node:events";

import { ConfigError } from "@scrip/config";

import { readProcessConfig } from "./process-config.ts";
import { startProcess } from "./process.ts";

try {
  await using gateway = await startProcess(readProcessConfig(process.env));
  console.log(`the gateway serves ${gateway.url}`);
  await Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
