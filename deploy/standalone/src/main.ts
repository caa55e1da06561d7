import { DataFolderError } from "@scrip/embedded-postgres";
import { explainConnectionFailure, MigrationError } from "@scrip/postgres";
import { runUntilStopped } from "@scrip/rpc";

import { type Standalone, startStandalone } from "./standalone.ts";

/** These say what to do; anything else is a bug and shows where. */
const EXPLAINED = [DataFolderError, MigrationError];

await runUntilStopped(
  (stop) => startStandalone(process.env, { progress: (text) => console.log(text), stop }),
  {
    onReady: welcome,
    onStop: () => console.log("Stopping …"),
    explain: (error) =>
      EXPLAINED.some((kind) => error instanceof kind)
        ? (error as Error).message
        : explainConnectionFailure(error),
  },
);

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
