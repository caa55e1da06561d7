import { once } from "node:events";

import { ConfigError } from "@scrip/config";
import { DataFolderError } from "@scrip/embedded-postgres";
import { MigrationError } from "@scrip/postgres";

import { type Standalone, startStandalone } from "./standalone.ts";

/** These say what to do; anything else is a bug and shows where. */
const EXPLAINED = [ConfigError, DataFolderError, MigrationError];

try {
  const stop = Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
  await using scrip = await startStandalone(process.env, (text) => console.log(text));
  welcome(scrip);
  await stop;
  console.log("Stopping …");
} catch (error) {
  const explained = EXPLAINED.some((kind) => error instanceof kind);
  console.error(explained ? (error as Error).message : error);
  process.exitCode = 1;
}

function welcome({ url, keysFile, keys, variables }: Standalone): void {
  const lines = [
    "",
    "Scrip is ready.",
    "",
    `  Base URL       ${url}`,
    `  Documentation  ${url}/docs`,
    `  Keys           ${keysFile}`,
  ];
  if (keys === "made") {
    lines.push("", "The keys of your first project, shown this once:", "");
    for (const [name, value] of Object.entries(variables)) lines.push(`  ${name}=${value}`);
  }
  if (keys === "unknown") {
    lines.push(
      "",
      "The database has projects whose keys are not known here. To make a key for one:",
    );
    lines.push("", "  npx scrip projects list", "  npx scrip keys create --help");
  }
  lines.push("", "Ctrl-C stops it.", "");
  console.log(lines.join("\n"));
}
