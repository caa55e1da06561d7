import { DataFolderError } from "@scrip/embedded-postgres";
import { explainConnectionFailure, MigrationError } from "@scrip/postgres";
import { runUntilStopped } from "@scrip/rpc";

import { type Standalone, startStandalone } from "./standalone.ts";

/** The messages of these errors say what to do; any other error is a bug and prints its stack. */
const OPERATOR_ERRORS = [DataFolderError, MigrationError];

await runUntilStopped(
  (stop) => startStandalone(process.env, { progress: (text) => console.log(text), stop }),
  {
    onReady: welcome,
    onStop: () => console.log("Stopping …"),
    explain: (error) =>
      OPERATOR_ERRORS.some((kind) => error instanceof kind)
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
  if (keys === "created") {
    lines.push("", "The keys of your first project (shown only now):", "");
    for (const [name, value] of Object.entries(variables)) lines.push(`  ${name}=${value}`);
  }
  if (keys === "unknown") {
    lines.push(
      "",
      "The keys of the projects in this database are not in this data folder. To create a key for one:",
    );
    lines.push("", "  npx scrip projects list", "  npx scrip keys create --help");
  }
  lines.push("", "Ctrl-C stops it.", "");
  console.log(lines.join("\n"));
}
